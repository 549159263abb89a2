//! The schedule or the hook that began a run, as a run's detail shows it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::projections::frame::field::Iso;
use consort_spec::spec::BegunBy;

/// The schedule or hook that began a run; empty for a run that a caller submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct Begun<'a> {
    /// The schedule that began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<BegunSchedule<'a>>,
    /// The hook that began the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook: Option<BegunHook<'a>>,
}

/// A schedule that began a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct BegunSchedule<'a> {
    name: &'a str,
    /// When the run was due.
    due: Iso,
}

/// A hook that began a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BegunHook<'a> {
    name: &'a str,
    /// The delivery, as its sender named it.
    delivery_id: &'a str,
}

impl Begun<'_> {
    /// Returns the view of what a spec says.
    pub(super) fn of(by: Option<&BegunBy>) -> Begun<'_> {
        match by {
            None => Begun::default(),
            Some(BegunBy::Schedule { name, due }) => {
                Begun { schedule: Some(BegunSchedule { name, due: Iso(*due) }), hook: None }
            }
            Some(BegunBy::Hook { name, delivery_id }) => {
                Begun { schedule: None, hook: Some(BegunHook { name, delivery_id }) }
            }
        }
    }
}
