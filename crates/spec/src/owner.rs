//! The owner of a run, and the runs that a caller sees. [`Sight::covers`] is the one place that decides whether a
//! caller may see a run, and with the needed scope change it.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of the owner where there are no keys, and of runs stored before there were owners.
const LOCAL: &str = "local";
/// The beginning of the names of owners whose runs other ensembles asked for.
const PEER: &str = "peer:";
/// The beginning of the names of owners that the tokens of an issuer name.
const OIDC: &str = "oidc:";
/// Beginnings that a configuration may not give to a name: owners that others vouch for have them.
const RESERVED: [&str; 2] = [PEER, OIDC];
/// The maximum number of bytes of a name: it is stored with every run and compared in every list.
const NAME_MAX: usize = 200;

/// The owner of runs: a name that one or more keys share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner(Arc<str>);

impl Owner {
    /// Returns the owner where there are no keys.
    pub fn local() -> Owner {
        Owner(LOCAL.into())
    }

    /// Returns the owner of this name; the error says why a configuration may not use it.
    pub fn named(name: &str) -> Result<Owner, String> {
        if let Some(reserved) = RESERVED.into_iter().find(|reserved| name.starts_with(reserved)) {
            return Err(format!("must not begin with `{reserved}`: such owners are not given by a configuration"));
        }
        if name.trim().is_empty() || name.len() > NAME_MAX || name.chars().any(char::is_control) {
            return Err(format!("must be a name of 1 to {NAME_MAX} bytes without control characters"));
        }
        Ok(Owner(name.into()))
    }

    /// Returns the owner of work that was asked for with the key of this name.
    pub fn peer(key: &str) -> Owner {
        Owner(format!("{PEER}{key}").into())
    }

    /// Returns the owner that a token names with this claim.
    pub fn oidc(claim: &str) -> Owner {
        Owner(format!("{OIDC}{claim}").into())
    }

    /// Returns the owner that a stored row names.
    pub fn stored(name: &str) -> Owner {
        Owner(name.into())
    }

    /// Returns whether this is the owner where there are no keys.
    pub fn is_local(&self) -> bool {
        &*self.0 == LOCAL
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Owner {
    fn default() -> Owner {
        Owner::local()
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// The runs that a caller sees. The owner that is named is the one of the runs that the caller begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sight {
    /// The runs of this owner.
    Own(Owner),
    /// The runs of all owners.
    All(Owner),
    /// No run: for work that is done for no caller.
    Nothing,
}

impl Sight {
    /// Returns whether runs that this owner sees are seen.
    pub fn covers(&self, seen_by: &Owner) -> bool {
        match self {
            Sight::Own(owner) => owner == seen_by,
            Sight::All(_) => true,
            Sight::Nothing => false,
        }
    }

    /// Returns the owner of what the caller begins.
    pub fn owner(&self) -> Owner {
        match self {
            Sight::Own(owner) | Sight::All(owner) => owner.clone(),
            Sight::Nothing => Owner::local(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventKind;
    use crate::requests::catalog::{Belt, Models};

    #[test]
    fn a_configuration_cannot_name_owners_that_others_vouch_for() {
        for name in ["peer:kitchen", "oidc:me", "peer:", "", "  ", "a\nb", &"x".repeat(NAME_MAX + 1)] {
            assert!(Owner::named(name).is_err(), "{name:?}");
        }
        for name in ["local", "team-a", "Peer:x", "a peer:", "Größe"] {
            assert_eq!(Owner::named(name).unwrap().as_str(), name);
        }
        assert_ne!(Owner::named("kitchen").unwrap(), Owner::peer("kitchen"));
    }

    #[test]
    fn a_stored_run_that_names_no_owner_is_local() {
        let accepted = |owner| EventKind::RunAccepted {
            ensemble_id: "e".to_owned(),
            spec: Arc::default(),
            models: Models::new(),
            belt: Belt::new(),
            copied: 0,
            owner,
            version: crate::event::VERSION,
        };
        for (owner, stored) in [(Owner::local(), None), (Owner::peer("a"), Some("peer:a"))] {
            let json = serde_json::to_value(accepted(owner.clone())).unwrap();
            assert_eq!(json["run_accepted"].get("owner").and_then(|owner| owner.as_str()), stored);
            assert_eq!(serde_json::from_value::<EventKind>(json).unwrap(), accepted(owner));
        }
    }

    #[test]
    fn a_caller_sees_the_runs_of_its_owner_or_all_or_none() {
        let [a, b] = ["a", "b"].map(|name| Owner::named(name).unwrap());
        let seen = |sight: Sight| [&a, &b, &Owner::peer("a")].map(|owner| sight.covers(owner));
        assert_eq!(seen(Sight::Own(a.clone())), [true, false, false]);
        assert_eq!(seen(Sight::All(a.clone())), [true, true, true]);
        assert_eq!(seen(Sight::Nothing), [false, false, false]);
    }
}
