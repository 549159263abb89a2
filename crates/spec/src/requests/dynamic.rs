//! Names in a task's list of tools that are resolved when the task begins: `<provider>:*`,
//! `<provider>:#tag` and `<ensemble>.<capability>`. Their form is checked when a run is submitted; the
//! tools they resolve to are looked up when a task begins, and recorded in an event.

/// The provider of the capabilities that other ensembles share.
pub const NETWORK: &str = "network";

/// A name that is looked up when a task begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dynamic<'a> {
    /// All tools of a provider.
    All {
        /// The name of the provider.
        provider: &'a str,
    },
    /// The tools of a provider with a tag.
    Tagged {
        /// The name of the provider.
        provider: &'a str,
        /// The tag.
        tag: &'a str,
    },
    /// A capability that another ensemble shares.
    Peer,
}

impl<'a> Dynamic<'a> {
    /// Parses a name; none when it is the name of one tool here.
    pub fn parse(name: &'a str) -> Option<Dynamic<'a>> {
        let (provider, which) = name.split_once(':').unwrap_or_default();
        match (which.strip_prefix('#'), name.split_once('.')) {
            (None, _) if which == "*" && is_plain(provider) => Some(Dynamic::All { provider }),
            (Some(tag), _) if is_plain(provider) && !tag.trim().is_empty() => Some(Dynamic::Tagged { provider, tag }),
            (_, Some((peer, capability))) if is_plain(peer) && !capability.trim().is_empty() => Some(Dynamic::Peer),
            _ => None,
        }
    }

    /// Returns the provider that must exist for the name to be valid.
    pub fn provider(self) -> Option<&'a str> {
        match self {
            Dynamic::All { provider } | Dynamic::Tagged { provider, .. } => Some(provider),
            Dynamic::Peer => None,
        }
    }
}

/// Returns whether a name is looked up when a task begins.
pub fn is_dynamic(name: &str) -> bool {
    Dynamic::parse(name).is_some()
}

/// Returns whether a name can stand before a colon or a dot: nothing in it needs quoting.
pub fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_looked_up_are_told_by_their_form() {
        let all = |provider| Some(Dynamic::All { provider });
        let tagged = |provider, tag| Some(Dynamic::Tagged { provider, tag });
        for (name, meant) in [
            ("network:*", all("network")),
            ("files:*", all("files")),
            ("network:#food", tagged("network", "food")),
            ("kitchen.check-inventory", Some(Dynamic::Peer)),
            ("kitchen.a:*", Some(Dynamic::Peer)),
            ("room-2.a.b", Some(Dynamic::Peer)),
        ] {
            assert_eq!(Dynamic::parse(name), meant, "{name}");
        }
        for name in
            ["calculator", "network:", "network:#", "network:food", ":*", "a b:*", ".x", "kitchen.", "a b.c", ""]
        {
            assert_eq!(Dynamic::parse(name), None, "{name}");
        }
    }
}
