//! The web UI is embedded: when its files change, so does the binary. A build
//! without them says so, because nobody would look for them in a binary.

use std::path::Path;

fn main() {
    if !Path::new("../../web/dist/index.html").exists() {
        println!("cargo::warning=this build has no web UI: `scripts/web build` makes it first, and needs Node");
    }
    println!("cargo::rerun-if-changed=../../web/dist");
}
