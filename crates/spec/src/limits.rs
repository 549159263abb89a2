//! The limits of a run, and the words for reaching one of them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Millis;
use crate::requests::catalog::{NanoUsd, usd};

/// The limits of a run, all its subtasks included. 0 means no limit, except for `depth`, where it means no
/// subtasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// The maximum nesting depth of subtasks.
    pub depth: u32,
    /// The number of model calls in one task or subtask; a task may set a lower limit.
    pub iterations_per_level: u32,
    /// The number of calls of one reply that run in parallel; the rest follow one by one.
    pub parallel_per_turn: u32,
    /// The total number of subtasks.
    pub subtasks: u64,
    /// The total number of model calls.
    pub llm_calls: u64,
    /// The total number of tool calls.
    pub tool_calls: u64,
    /// The working time; waiting for people and downtime do not count.
    pub wall_clock_ms: Millis,
    /// The number of bytes of one tool result that the model is shown.
    pub tool_result_bytes: usize,
    /// The maximum number of tokens of conversation sent; older exchanges are dropped.
    pub history_tokens: u64,
    /// The number of times an answer that breaks its schema is sent back.
    pub schema_retries: u32,
    /// The total number of tokens, read and written.
    pub tokens: u64,
    /// The total cost.
    pub cost: NanoUsd,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 0,
            iterations_per_level: 0,
            parallel_per_turn: 0,
            subtasks: 0,
            llm_calls: 0,
            tool_calls: 0,
            wall_clock_ms: 0,
            tool_result_bytes: 0,
            history_tokens: 0,
            schema_retries: 3,
            tokens: 0,
            cost: 0,
        }
    }
}

/// The limits of a run that are to be raised; those that are absent stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Raise {
    /// The total number of subtasks.
    pub subtasks: Option<u64>,
    /// The total number of model calls.
    pub llm_calls: Option<u64>,
    /// The total number of tool calls.
    pub tool_calls: Option<u64>,
    /// The working time.
    pub wall_clock_ms: Option<Millis>,
    /// The total number of tokens.
    pub tokens: Option<u64>,
    /// The total cost.
    pub cost: Option<NanoUsd>,
}

impl Limits {
    /// Returns the limits after some of them are raised, or the reason why one of them cannot be.
    pub fn raised(&self, raise: &Raise) -> Result<Limits, String> {
        let one = |name: &str, limit: u64, wanted: Option<u64>| match wanted {
            None => Ok(limit),
            Some(_) if limit == 0 => Err(format!("{name} has no limit")),
            Some(wanted) if wanted > limit => Ok(wanted),
            Some(_) if name == COST => Err(format!("{name} must be more than {}, the limit there is", usd(limit))),
            Some(_) => Err(format!("{name} must be more than {limit}, the limit there is")),
        };
        Ok(Limits {
            subtasks: one("maxTotalSubtasks", self.subtasks, raise.subtasks)?,
            llm_calls: one("maxTotalLlmCalls", self.llm_calls, raise.llm_calls)?,
            tool_calls: one("maxTotalToolCalls", self.tool_calls, raise.tool_calls)?,
            wall_clock_ms: one("maxWallClockMs", self.wall_clock_ms, raise.wall_clock_ms)?,
            tokens: one("maxTotalTokens", self.tokens, raise.tokens)?,
            cost: one(COST, self.cost, raise.cost)?,
            ..*self
        })
    }
}

/// The name of the limit of a run's cost, which is shown in US dollars.
const COST: &str = "maxCostUsd";

/// The limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Subtasks.
    Subtasks,
    /// Model calls.
    LlmCalls,
    /// Tool calls.
    ToolCalls,
    /// Time of work, in milliseconds.
    WallClock,
    /// Tokens.
    Tokens,
    /// Money, in nano-USD.
    Cost,
}

/// A limit that the next step would pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breach {
    /// The limit that would be exceeded.
    pub reason: Reason,
    /// The value of the limit.
    pub limit: u64,
    /// The amount that would have been used, the refused step included.
    pub observed: u64,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Breach { reason, limit, observed } = self;
        match reason {
            Reason::Subtasks => write!(f, "the limit of {limit} subtasks is reached"),
            Reason::LlmCalls => write!(f, "the limit of {limit} model calls is reached"),
            Reason::ToolCalls => write!(f, "the limit of {limit} tool calls is reached"),
            Reason::WallClock => write!(f, "the limit of {limit} ms is reached"),
            Reason::Tokens => write!(f, "the limit of {limit} tokens is reached: this would make {observed}"),
            Reason::Cost => write!(f, "the limit of {} USD is reached", usd(*limit)),
        }
    }
}

/// The amount set aside for one model call until its usage is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The number of tokens, read and written.
    pub tokens: u64,
    /// The cost.
    pub cost: NanoUsd,
}
