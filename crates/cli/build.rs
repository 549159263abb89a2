//! Links the setting of the allocator into the binary where that is glibc's; others give large blocks back anyway.

use std::env;

/// The file with the setting.
const ALLOCATOR: &str = "src/allocator.c";

#[expect(clippy::disallowed_macros, reason = "cargo reads it, not a terminal")]
fn main() {
    println!("cargo::rerun-if-changed={ALLOCATOR}");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        for object in cc::Build::new().file(ALLOCATOR).compile_intermediates() {
            println!("cargo::rustc-link-arg-bins={}", object.display());
        }
    }
}
