//! The events that only turns of a chat have.

use serde::{Deserialize, Serialize};

use super::{Answer, Carried, Mode, Reason};
use crate::id::{Id, Millis};
use crate::text::Text;

/// The kinds of events that only turns have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields are named after the types that document them")]
pub enum ChatEventKind {
    /// The model asked for this call.
    CallAnnounced { call: Id },
    /// The client is asked to make a call.
    ClientCalled { call: Id, due: Millis },
    /// A person is asked whether a call may be made.
    ApprovalAsked {
        approval: u32,
        call: Id,
        due: Option<Millis>,
        #[serde(default)]
        reason: Reason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        carried: Option<Carried>,
    },
    /// A person answered; only the first answer counts. `args` are the arguments that the person put in the place
    /// of the model's.
    ApprovalAnswered {
        approval: u32,
        answer: Answer,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Text>,
    },
    /// A grant was taken back.
    GrantWithdrawn { grant: String, by: String },
    /// The permission mode has changed.
    ModeSet { mode: Mode, by: String },
    /// The last row of the turn was stored, with its tree.
    AnswerStored,
    /// A drawn task graph was checked; without mistakes it is accepted.
    PlanChecked { call: Id, mistakes: Vec<String> },
    /// One task of an accepted graph was announced.
    TaskPlanned { call: Id, task: usize },
    /// The usage of the turn was summed up.
    CostSummed,
}
