//! The card of an A2A agent, as far as it is believed: the text of a stranger, cut to size. Pure.

use std::collections::BTreeSet;

use consort_core::dynamic::is_plain;
use serde_json::Value;

use crate::limits::{CAPABILITIES_MAX, DESCRIPTION_MAX, NAME_MAX, TAGS_MAX, cut};

/// The versions of the protocol that are spoken here.
const SPOKEN: &str = "1.";

/// An agent, as its card describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Card {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) interface: Interface,
    /// Whether it tells of a task as it goes on.
    pub(crate) streams: bool,
    pub(crate) skills: Vec<Skill>,
}

/// The way in which an agent is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interface {
    pub(crate) binding: Binding,
    /// The address, without a slash at its end.
    pub(crate) url: String,
    /// The word that requests must repeat, where the agent wants one.
    pub(crate) tenant: Option<String>,
}

/// A binding of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    JsonRpc,
    Rest,
}

/// Something that an agent can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    /// Its id for the agent.
    pub(crate) id: String,
    /// The name of its tool here, without the agent's.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
}

impl Card {
    /// Reads the card of the agent at this origin; the error says why it cannot be used.
    pub(crate) fn read(card: &Value, origin: &str) -> Result<Card, String> {
        let name = short(card.get("name")).ok_or("its card has no `name`")?;
        let interface = interface(card, origin)?;
        let skills = card.get("skills").and_then(Value::as_array).ok_or("its card lists no `skills`")?;
        let mut names = BTreeSet::new();
        let skills = skills.iter().take(CAPABILITIES_MAX).filter_map(skill);
        let skills: Vec<Skill> = skills.filter(|skill| names.insert(skill.name.clone())).collect();
        if skills.is_empty() {
            return Err("its card lists no skill with an `id`".to_owned());
        }
        let streams = card.pointer("/capabilities/streaming") == Some(&Value::Bool(true));
        let version = short(card.get("version")).unwrap_or_default();
        Ok(Card { name, version, interface, streams, skills })
    }
}

/// Chooses the first interface that is spoken here. A key is sent to it, so it must be at the configured address.
fn interface(card: &Value, origin: &str) -> Result<Interface, String> {
    let listed = card.get("supportedInterfaces").and_then(Value::as_array).ok_or("its card is not one of A2A 1.0")?;
    let text = |interface: &Value, name: &str| interface.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut elsewhere = None;
    for one in listed {
        let binding = match text(one, "protocolBinding").as_deref() {
            Some("JSONRPC") => Binding::JsonRpc,
            Some("HTTP+JSON") => Binding::Rest,
            _ => continue,
        };
        let is_spoken = text(one, "protocolVersion").is_some_and(|version| version.starts_with(SPOKEN));
        let Some(url) = text(one, "url").filter(|_| is_spoken) else { continue };
        let rest = url.strip_prefix(origin);
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?'])) {
            let tenant = text(one, "tenant").filter(|tenant| !tenant.is_empty());
            return Ok(Interface { binding, url: url.trim_end_matches('/').to_owned(), tenant });
        }
        elsewhere.get_or_insert(cut(url, NAME_MAX));
    }
    Err(match elsewhere {
        Some(url) => format!("its card leads to another address ({url}): configure that one if it is meant"),
        None => "it speaks neither JSON-RPC nor REST of A2A 1.0".to_owned(),
    })
}

fn skill(skill: &Value) -> Option<Skill> {
    let id = short(skill.get("id"))?;
    let plain = |letter: char| if is_plain(letter.encode_utf8(&mut [0; 4])) { letter } else { '_' };
    let tags = skill.get("tags").and_then(Value::as_array).into_iter().flatten();
    let description = skill.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(Skill {
        name: id.chars().map(plain).collect(),
        description: cut(description, DESCRIPTION_MAX),
        tags: tags.filter_map(|tag| short(Some(tag))).take(TAGS_MAX).collect(),
        id,
    })
}

/// Returns a text that people and models read as a name.
fn short(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?.trim();
    (!text.is_empty() && text.len() <= NAME_MAX && !text.chars().any(char::is_control)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ORIGIN: &str = "http://127.0.0.1:9000";

    fn card(interfaces: Value) -> Value {
        json!({ "name": "Helper", "version": "2", "supportedInterfaces": interfaces, "capabilities": { "streaming": true },
            "skills": [{ "id": "say hi", "description": "x".repeat(9000), "tags": ["a", 3, "b"] }, { "id": "say hi" }, { "id": "" }, 7] })
    }

    fn at(url: &str, binding: &str, version: &str) -> Value {
        json!({ "url": url, "protocolBinding": binding, "protocolVersion": version })
    }

    #[test]
    fn a_card_is_cut_to_size_and_its_first_spoken_interface_is_used() {
        let listed = json!([
            at("127.0.0.1:9001", "GRPC", "1.0"),
            at("http://127.0.0.1:9000/old", "JSONRPC", "0.3"),
            at("http://127.0.0.1:9000/rest/", "HTTP+JSON", "1.0"),
            at("http://127.0.0.1:9000/rpc", "JSONRPC", "1.0"),
        ]);
        let read = Card::read(&card(listed), ORIGIN).unwrap();
        assert_eq!(
            (read.interface.binding, read.interface.url.as_str()),
            (Binding::Rest, "http://127.0.0.1:9000/rest")
        );
        assert!(read.streams && read.skills.len() == 1);
        let skill = &read.skills[0];
        assert_eq!(
            (skill.id.as_str(), skill.name.as_str(), &skill.tags[..]),
            ("say hi", "say_hi", &["a".to_owned(), "b".to_owned()][..])
        );
        assert!(skill.description.len() < 5000 && skill.description.contains("shortened"));
    }

    #[test]
    fn a_card_that_leads_elsewhere_or_says_nothing_usable_is_refused_with_the_reason() {
        for (card, why) in [
            (json!({}), "no `name`"),
            (json!({ "name": "x", "skills": [] }), "not one of A2A 1.0"),
            (card(json!([])), "neither JSON-RPC nor REST"),
            (card(json!([at("http://10.0.0.1/rpc", "JSONRPC", "1.0")])), "another address (http://10.0.0.1/rpc)"),
            (card(json!([at("http://127.0.0.1:90001/rpc", "JSONRPC", "1.0")])), "another address"),
            (card(json!([at("http://127.0.0.1:9000@evil/rpc", "JSONRPC", "1.0")])), "another address"),
            (json!({ "name": "x", "supportedInterfaces": [at(ORIGIN, "JSONRPC", "1.0")], "skills": [3] }), "no skill"),
            (json!({ "name": "x", "supportedInterfaces": [at(ORIGIN, "JSONRPC", "1.0")] }), "no `skills`"),
        ] {
            let told = Card::read(&card, ORIGIN).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
