//! Validates what a peer says about itself. Whatever it sends,
//! the cost here is limited, and anything left out is reported.

use std::time::Duration;

use consort_core::bounds::SCHEMA_BYTES_MAX;
use consort_core::schema::Schema;

use crate::wire::{Capability, CapacityUpdate, Hello};

/// The maximum size in bytes of a name, of an ensemble or of a capability.
const NAME_MAX: usize = 128;
/// The maximum number of capabilities of one ensemble.
const CAPABILITIES_MAX: usize = 1000;
/// The maximum number of tags of one capability.
const TAGS_MAX: usize = 32;
/// The maximum size of a description in bytes: every model that may use it reads it.
const DESCRIPTION_MAX: usize = 4096;
/// The shortest and the longest lease that a peer may ask for.
const LEASE_MIN: Duration = Duration::from_millis(100);
const LEASE_MAX: Duration = Duration::from_secs(10 * 60);
/// The maximum size in bytes of one frame to a peer that does not
/// declare a limit, and the smallest and largest limits it may declare.
const FRAME_USUAL: u64 = 1024 * 1024;
const FRAME_MIN: u64 = 16 * 1024;
pub(crate) const FRAME_MAX: u64 = 8 * 1024 * 1024;

impl Hello {
    /// Returns the reason for refusing a link to a peer of this name.
    pub fn refusal(&self) -> Option<String> {
        match self.ensemble.as_deref() {
            Some(name) if name.trim().is_empty() => Some("`ensemble` must not be blank".to_owned()),
            Some(name) if name.len() > NAME_MAX => Some(format!("`ensemble` has more than {NAME_MAX} bytes")),
            Some(_) | None => None,
        }
    }

    /// Returns the accepted part of the description, and a message about the rest.
    pub(crate) fn believed(mut self, own_name: &str) -> (Hello, Option<String>) {
        let mut complaints = Vec::new();
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
                unusable.get_or_insert_with(|| format!("`{}`: {reason}", capability.name));
                false
            }
        });
        self.shared_capabilities.truncate(CAPABILITIES_MAX);
        self.shared_capabilities.iter_mut().for_each(cut);
        let known = self.shared_capabilities.len();
        if known < said {
            complaints.push(format!(
                "it says it shares {said}, of which {known} are known here: at most {CAPABILITIES_MAX}, with names of \
                 at most {NAME_MAX} bytes and schemas of at most {SCHEMA_BYTES_MAX}"
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
    /// Returns the update with a load that can be compared with others'.
    pub(crate) fn believed(self) -> CapacityUpdate {
        CapacityUpdate { current_load: self.current_load.clamp(0.0, 1.0), ..self }
    }
}

/// Returns the reason why a capability cannot be used.
fn defect(capability: &Capability) -> Option<String> {
    let name = capability.name.trim();
    if name.is_empty() || name.len() > NAME_MAX {
        return Some(format!("a name has 1 to {NAME_MAX} bytes"));
    }
    let schema = capability.schema.as_deref().cloned();
    schema.and_then(|schema| Schema::parse(schema).err()).map(|reason| format!("its schema cannot be used: {reason}"))
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
