//! Validates the frames in which a peer describes itself. The cost is limited whatever it sends, and everything that
//! is left out is reported.

use std::time::Duration;

use consort_core::bounds::SCHEMA_BYTES_MAX;
use consort_core::schema::Schema;
use consort_core::text::{self, is_invisible};

use crate::limits::{
    CAPABILITIES_BYTES_MAX, CAPABILITIES_MAX, DESCRIPTION_MAX, FRAME_MAX, FRAME_MIN, FRAME_USUAL, LEASE_MAX, LEASE_MIN,
    NAME_MAX, TAGS_MAX,
};
use crate::wire::{Capability, CapacityUpdate, Hello};

impl Hello {
    /// Returns the reason for refusing a link to a peer of this name.
    pub fn refusal(&self) -> Option<String> {
        match self.ensemble.as_deref() {
            Some(name) if folded(name).is_empty() => Some("`ensemble` must not be blank".to_owned()),
            Some(name) if name.len() > NAME_MAX => Some(format!("`ensemble` has more than {NAME_MAX} bytes")),
            Some(_) | None => None,
        }
    }

    /// Returns the accepted part of the description, and a message about the rest.
    pub(crate) fn believed(mut self, own_name: &str) -> (Hello, Option<String>) {
        let mut complaints = Vec::new();
        // Only a peer that was dialled gets here with that name.
        if self.ensemble.as_deref() == Some(own_name) {
            complaints.push(format!(
                "it calls itself `{own_name}` as this ensemble does: tasks between the two count as going round in circles"
            ));
        }
        let said = self.shared_capabilities.len();
        let mut unusable = None;
        self.shared_capabilities.retain(|capability| match defect(capability) {
            None => true,
            Some(reason) => {
                // One is enough to see what is wrong; a thousand would fill the log.
                unusable.get_or_insert_with(|| format!("`{}`: {reason}", escaped_name(&capability.name)));
                false
            }
        });
        self.shared_capabilities.truncate(CAPABILITIES_MAX);
        self.shared_capabilities.iter_mut().for_each(cut);
        let mut left = CAPABILITIES_BYTES_MAX;
        self.shared_capabilities.retain(|capability| {
            let rest = left.checked_sub(bytes(capability));
            left = rest.unwrap_or(left);
            rest.is_some()
        });
        for text in [&mut self.realm, &mut self.version] {
            *text = text.take().filter(|text| text.len() <= NAME_MAX);
        }
        let known = self.shared_capabilities.len();
        if known < said {
            complaints.push(format!(
                "it says it shares {said}, of which {known} are known here: at most {CAPABILITIES_MAX}, with names of \
                 at most {NAME_MAX} bytes and schemas of at most {SCHEMA_BYTES_MAX}, together \
                 {CAPABILITIES_BYTES_MAX} bytes"
            ));
        }
        complaints.extend(unusable);
        (self, (!complaints.is_empty()).then(|| complaints.join("; ")))
    }

    /// Returns the interval of its signs of life.
    pub(crate) fn lease(&self, usual: Duration) -> Duration {
        self.lease_ms.map_or(usual, |lease| Duration::from_millis(lease).clamp(LEASE_MIN, LEASE_MAX))
    }

    /// Returns the maximum size of a frame that it accepts, in bytes.
    pub(crate) fn frame_max(&self) -> usize {
        let said = self.max_frame_bytes.unwrap_or(FRAME_USUAL).clamp(FRAME_MIN, FRAME_MAX);
        usize::try_from(said).unwrap_or(usize::MAX)
    }
}

impl CapacityUpdate {
    /// Returns the update with a load that can be compared with others', and a realm of bounded length.
    pub(crate) fn believed(self) -> CapacityUpdate {
        let realm = self.realm.filter(|realm| realm.len() <= NAME_MAX);
        CapacityUpdate { current_load: self.current_load.clamp(0.0, 1.0), realm, ..self }
    }
}

/// Returns the reason why a capability cannot be used.
fn defect(capability: &Capability) -> Option<String> {
    let name = capability.name.as_str();
    if folded(name).is_empty() || name.len() > NAME_MAX {
        return Some(format!("a name has 1 to {NAME_MAX} bytes"));
    }
    if let Some(reason) = disguise(name) {
        return Some(reason);
    }
    let schema = capability.schema.as_deref().cloned();
    schema.and_then(|schema| Schema::parse(schema).err()).map(|reason| format!("its schema cannot be used: {reason}"))
}

/// Returns a name without the differences that people do not see: case, spaces and invisible characters.
pub(crate) fn folded(name: &str) -> String {
    let is_seen = |sign: &char| !sign.is_whitespace() && !sign.is_control() && !is_invisible(*sign);
    name.chars().filter(is_seen).flat_map(char::to_lowercase).collect()
}

/// Returns the reason why a name can be taken for another: something of it is not seen.
pub(crate) fn disguise(name: &str) -> Option<String> {
    let unseen = name.chars().find(|sign| sign.is_control() || is_invisible(*sign));
    match unseen {
        Some(sign) => Some(format!(
            "a name must not have invisible or control characters, such as U+{:04X} here",
            u32::from(sign)
        )),
        None if name.trim() != name => Some("a name must not begin or end with a space".to_owned()),
        None => None,
    }
}

/// Returns a name of a peer for a message: its beginning, with everything escaped that is not seen.
pub(crate) fn escaped_name(name: &str) -> String {
    let escaped = |sign: char| match sign {
        sign if sign.is_control() || is_invisible(sign) => sign.escape_unicode().collect::<String>(),
        sign => sign.to_string(),
    };
    text::cut(name, NAME_MAX).chars().map(escaped).collect()
}

/// Returns the size of a capability as it came.
fn bytes(capability: &Capability) -> usize {
    serde_json::to_string(capability).map_or(usize::MAX, |text| text.len())
}

fn cut(capability: &mut Capability) {
    capability.tags.retain(|tag| tag.len() <= NAME_MAX);
    capability.tags.truncate(TAGS_MAX);
    if capability.description.len() > DESCRIPTION_MAX {
        let end = capability.description.floor_char_boundary(DESCRIPTION_MAX);
        capability.description.truncate(end);
        capability.description.push_str(" …");
    }
}
