//! What is shown while something is under way and is never stored: words of a
//! model as they come, and how far a call is. Such frames have no number.

use serde_json::{Map, Value, json};

use crate::frame::merge;
use crate::id::Id;
use crate::run::Run;

/// What every live frame of one turn or call says.
#[derive(Clone, Debug, PartialEq)]
pub enum Voice {
    /// In a run.
    Run {
        /// What every frame says.
        frame: Map<String, Value>,
    },
    /// In a chat, numbered over the thread.
    Chat {
        /// The number of the turn's first event in its thread.
        base: u64,
        /// What every frame says.
        frame: Map<String, Value>,
    },
}

impl Run {
    /// Whose words a model's are that is being asked.
    pub fn voice(&self, run: &str, turn: &Id) -> Voice {
        if let Some(chat) = &self.spec.chat {
            return Voice::Chat { base: chat.base, frame: self.chunk_frame(chat, run, turn) };
        }
        Voice::Run { frame: members(json!({ "type": "token", "runId": run }), self.place(turn)) }
    }

    /// Whose progress a call's is that is under way.
    pub fn progress_voice(&self, run: &str, call: &Id) -> Voice {
        let (name, _) = self.asked_call(call);
        if let Some(chat) = &self.spec.chat {
            let head = json!({ "type": "tool_progress", "thread_id": chat.thread, "turn_id": run });
            let fields = json!({ "tool_call_id": self.chat.name(call), "name": name });
            return Voice::Chat { base: chat.base, frame: members(head, self.at_call_level(call, fields)) };
        }
        let head = json!({ "type": "tool_progress", "runId": run });
        let fields = self.at_turn_of(call, json!({ "callId": call, "toolName": name }));
        Voice::Run { frame: members(head, fields) }
    }
}

fn members(mut head: Value, fields: Value) -> Map<String, Value> {
    merge(&mut head, fields);
    if let Value::Object(members) = head { members } else { Map::new() }
}
