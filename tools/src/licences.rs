//! Every dependency's licence against `[licenses]` of `deny.toml`, the list `cargo deny` reads too.

use std::io::Read;

use serde::Deserialize;

use crate::spdx;

/// Why the check could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `deny.toml` is not what `cargo deny` reads.
    #[error("cannot read the licence policy: {0}")]
    Policy(#[from] toml::de::Error),
    /// The input is not the output of `cargo metadata`.
    #[error("cannot read the output of cargo metadata: {0}")]
    Metadata(#[from] serde_json::Error),
}

/// The part of `deny.toml` about licences.
#[derive(Debug, Deserialize)]
pub struct Policy {
    licenses: Licences,
}

#[derive(Debug, Deserialize)]
struct Licences {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

/// Licences allowed for one crate only.
#[derive(Debug, Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

/// A dependency as its manifest describes it.
#[derive(Debug, Deserialize)]
pub struct Package {
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// Reads the dependencies from `cargo metadata`, the workspace's own crates left out.
pub fn read_packages(input: impl Read) -> Result<Vec<Package>, Error> {
    let metadata: Metadata = serde_json::from_reader(input)?;
    Ok(metadata.packages.into_iter().filter(|package| package.source.is_some()).collect())
}

impl Policy {
    /// Reads the policy from the text of `deny.toml`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Ok(toml::from_str(text)?)
    }

    /// Lists the dependencies the policy does not allow, one line each.
    pub fn check(&self, packages: &[Package]) -> Vec<String> {
        packages.iter().filter_map(|package| self.refusal(package)).collect()
    }

    fn refusal(&self, package: &Package) -> Option<String> {
        let accepts = |licence: &str| self.allows(&package.name, licence);
        let reason = match package.license.as_deref() {
            None => "names no licence".to_owned(),
            Some(expression) => match spdx::is_met(expression, &accepts) {
                Some(true) => return None,
                Some(false) => format!("licence `{expression}` is not allowed"),
                None => format!("licence `{expression}` cannot be read"),
            },
        };
        Some(format!("{} {}: {reason}", package.name, package.version))
    }

    fn allows(&self, name: &str, licence: &str) -> bool {
        let exceptions = self.licenses.exceptions.iter().filter(|exception| exception.name == name);
        let excepted = exceptions.flat_map(|exception| &exception.allow);
        self.licenses.allow.iter().chain(excepted).any(|allowed| allowed == licence)
    }
}

#[cfg(test)]
mod tests {
    use super::{Policy, read_packages};

    const POLICY: &str = r#"
        [licenses]
        allow = ["MIT"]
        exceptions = [{ crate = "roots", allow = ["CDLA-Permissive-2.0"] }]
        [bans]
        wildcards = "deny"
    "#;

    fn refused(packages: &str) -> Vec<String> {
        let metadata = format!(r#"{{"packages": [{packages}], "version": 1}}"#);
        Policy::parse(POLICY).unwrap().check(&read_packages(metadata.as_bytes()).unwrap())
    }

    #[test]
    fn a_dependency_needs_a_licence_on_the_list() {
        let packages = r#"
            {"name": "a", "version": "1.0.0", "license": "GPL-3.0 OR MIT", "source": "registry"},
            {"name": "b", "version": "2.0.0", "license": "GPL-3.0", "source": "registry"},
            {"name": "c", "version": "3.0.0", "license": null, "source": "registry"},
            {"name": "d", "version": "4.0.0", "license": "MIT OR", "source": "registry"}"#;
        assert_eq!(
            refused(packages),
            [
                "b 2.0.0: licence `GPL-3.0` is not allowed",
                "c 3.0.0: names no licence",
                "d 4.0.0: licence `MIT OR` cannot be read",
            ]
        );
    }

    #[test]
    fn an_exception_holds_for_its_crate_alone() {
        let packages = r#"
            {"name": "roots", "version": "1.0.0", "license": "CDLA-Permissive-2.0", "source": "registry"},
            {"name": "other", "version": "1.0.0", "license": "CDLA-Permissive-2.0", "source": "registry"}"#;
        assert_eq!(refused(packages), ["other 1.0.0: licence `CDLA-Permissive-2.0` is not allowed"]);
    }

    #[test]
    fn crates_of_the_workspace_are_not_dependencies() {
        assert!(refused(r#"{"name": "own", "version": "0.1.0", "license": null, "source": null}"#).is_empty());
    }

    #[test]
    fn a_misspelt_policy_is_an_error() {
        assert!(Policy::parse("[licences]\nallow = []").is_err());
    }
}
