//! The web UI is embedded: when its files change, so does the binary. A build
//! without them says so, because nobody would look for them in a binary.

use std::fs;
use std::path::Path;

const UI: &str = "../../web/dist";

fn main() {
    if !Path::new(UI).join("index.html").exists() {
        println!("cargo::warning=this build has no web UI: `scripts/web build` makes it first, and needs Node");
        // A watched folder that is not there would have this crate compiled anew every time.
        let _is_read_only = fs::create_dir_all(UI);
    }
    println!("cargo::rerun-if-changed={UI}");
}
