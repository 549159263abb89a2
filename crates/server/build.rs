//! The web UI is embedded: when its files change, so does the binary.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
