//! `checks sizes FOLDER…` measures Rust files; `checks licences DENY_TOML` reads `cargo metadata` from its input.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use consort_checks::{licences, sizes};

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let violations = match arguments.as_slice() {
        ["sizes", folders @ ..] if !folders.is_empty() => check_sizes(folders)?,
        ["licences", policy] => check_licences(Path::new(policy))?,
        _ => bail!("usage: checks sizes FOLDER… | checks licences DENY_TOML <METADATA"),
    };
    Ok(if violations == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn check_sizes(folders: &[&str]) -> anyhow::Result<usize> {
    let mut files = Vec::new();
    for folder in folders {
        rust_files(Path::new(folder), &mut files).with_context(|| format!("cannot read {folder}"))?;
    }
    let mut violations = 0;
    for file in &files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let is_root = file.file_name().is_some_and(|name| name == "lib.rs");
        let header = if is_root { sizes::Header::Layout } else { sizes::Header::Idea };
        for violation in sizes::check(&text, header) {
            println!("{}:{}: {}", file.display(), violation.line, violation.what);
            violations += 1;
        }
    }
    println!("sizes: {} files, {violations} violations", files.len());
    Ok(violations)
}

/// Collects the Rust files under `folder` in a stable order, build output left out.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                rust_files(&path, found)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

fn check_licences(policy: &Path) -> anyhow::Result<usize> {
    let text = fs::read_to_string(policy).with_context(|| format!("cannot read {}", policy.display()))?;
    let policy = licences::Policy::parse(&text)?;
    let packages = licences::read_packages(io::stdin().lock())?;
    let refused = policy.check(&packages);
    for line in &refused {
        println!("{line}");
    }
    println!("licences: {} dependencies, {} refused", packages.len(), refused.len());
    Ok(refused.len())
}
