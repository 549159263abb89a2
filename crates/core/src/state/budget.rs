//! One budget for the whole tree of tasks and subtasks. Every limited amount is claimed before a call is
//! made and settled after, so no interleaving of conversations can spend the same unit twice.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Millis;
use crate::requests::catalog::NanoUsd;
use crate::shown::view::usd;

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

/// A quantity with a limit: an amount spent for certain, and an amount held for calls under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pool {
    limit: u64,
    spent: u64,
    held: u64,
}

impl Pool {
    fn new(limit: u64) -> Pool {
        Pool { limit, spent: 0, held: 0 }
    }

    fn committed(&self) -> u64 {
        self.spent.saturating_add(self.held)
    }

    /// Returns the amount that may still be claimed.
    fn left(&self) -> u64 {
        if self.limit == 0 { u64::MAX } else { self.limit.saturating_sub(self.committed()) }
    }

    fn check(&self, amount: u64, reason: Reason) -> Result<(), Breach> {
        if amount <= self.left() {
            return Ok(());
        }
        Err(Breach { reason, limit: self.limit, observed: self.committed().saturating_add(amount) })
    }

    fn spend(&mut self, amount: u64) {
        self.spent = self.spent.saturating_add(amount);
    }

    fn hold(&mut self, amount: u64) {
        self.held = self.held.saturating_add(amount);
    }

    fn settle(&mut self, claim: u64, used: u64) {
        self.held = self.held.saturating_sub(claim);
        self.spend(used);
    }
}

/// The amounts a run has used, and those it holds for calls under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    subtasks: Pool,
    llm_calls: Pool,
    tool_calls: Pool,
    tokens: Pool,
    cost: Pool,
}

impl Budget {
    /// Creates an unused budget.
    pub fn new(limits: &Limits) -> Budget {
        Budget {
            subtasks: Pool::new(limits.subtasks),
            llm_calls: Pool::new(limits.llm_calls),
            tool_calls: Pool::new(limits.tool_calls),
            tokens: Pool::new(limits.tokens),
            cost: Pool::new(limits.cost),
        }
    }

    /// Raises the limits; what is used and held stays.
    pub fn raise(&mut self, limits: &Limits) {
        self.subtasks.limit = limits.subtasks;
        self.llm_calls.limit = limits.llm_calls;
        self.tool_calls.limit = limits.tool_calls;
        self.tokens.limit = limits.tokens;
        self.cost.limit = limits.cost;
    }

    /// Returns the number of tokens that may still be claimed.
    pub fn tokens_left(&self) -> u64 {
        self.tokens.left()
    }

    /// Returns the cost that may still be claimed.
    pub fn cost_left(&self) -> NanoUsd {
        self.cost.left()
    }

    /// Returns the cost that calls, ended or not, have caused or may cause.
    pub fn cost_committed(&self) -> NanoUsd {
        self.cost.committed()
    }

    /// Returns the number of model calls made.
    pub fn llm_calls(&self) -> u64 {
        self.llm_calls.spent
    }

    /// Returns the number of tool calls made.
    pub fn tool_calls(&self) -> u64 {
        self.tool_calls.spent
    }

    /// Returns the number of subtasks started.
    pub fn subtasks(&self) -> u64 {
        self.subtasks.spent
    }

    /// Returns the number of tokens spent or held.
    pub fn tokens_committed(&self) -> u64 {
        self.tokens.committed()
    }

    /// Returns the amount held for calls under way, of the quantity with this limit.
    pub fn held(&self, reason: Reason) -> u64 {
        match reason {
            Reason::Tokens => self.tokens.held,
            Reason::Cost => self.cost.held,
            Reason::Subtasks | Reason::LlmCalls | Reason::ToolCalls | Reason::WallClock => 0,
        }
    }

    /// Returns these limits reduced to the remaining calls, tokens and cost, for a model call after the run;
    /// none when one of them is used up.
    pub fn rest(&self, limits: &Limits) -> Option<Limits> {
        let rest = |pool: &Pool| if pool.limit == 0 { Some(0) } else { Some(pool.left()).filter(|left| *left > 0) };
        let llm_calls = rest(&self.llm_calls)?;
        let tokens = rest(&self.tokens)?;
        let cost = rest(&self.cost)?;
        Some(Limits { llm_calls, tokens, cost, ..*limits })
    }

    /// Claims one model call.
    pub fn claim_call(&mut self) -> Result<(), Breach> {
        self.llm_calls.check(1, Reason::LlmCalls)?;
        self.llm_calls.spend(1);
        Ok(())
    }

    /// Sets tokens and money aside for a model call.
    pub fn claim(&mut self, claim: &Claim) -> Result<(), Breach> {
        self.tokens.check(claim.tokens, Reason::Tokens)?;
        self.cost.check(claim.cost, Reason::Cost)?;
        self.tokens.hold(claim.tokens);
        self.cost.hold(claim.cost);
        Ok(())
    }

    /// Replaces a claim by the amount that the call really used.
    pub fn settle(&mut self, claim: &Claim, used: &Claim) {
        self.tokens.settle(claim.tokens, used.tokens);
        self.cost.settle(claim.cost, used.cost);
    }

    /// Claims a number of tool calls, all or none.
    pub fn claim_tools(&mut self, calls: u64) -> Result<(), Breach> {
        // Of the calls that do not fit, the first one exceeds the limit.
        let one_too_many = |breach: Breach| Breach { observed: breach.limit.saturating_add(1), ..breach };
        self.tool_calls.check(calls, Reason::ToolCalls).map_err(one_too_many)?;
        self.tool_calls.spend(calls);
        Ok(())
    }

    /// Claims one subtask.
    pub fn claim_subtask(&mut self) -> Result<(), Breach> {
        self.subtasks.check(1, Reason::Subtasks)?;
        self.subtasks.spend(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_unit_is_claimed_once() {
        let mut budget = Budget::new(&Limits { tokens: 10, ..Limits::default() });
        let claim = Claim { tokens: 6, cost: 0 };
        assert_eq!(budget.claim(&claim), Ok(()));
        let breach = Breach { reason: Reason::Tokens, limit: 10, observed: 12 };
        assert_eq!(budget.claim(&claim), Err(breach));
        budget.settle(&claim, &Claim { tokens: 4, cost: 0 });
        assert_eq!(budget.claim(&claim), Ok(()));
        assert_eq!(budget.tokens_committed(), 10);
    }

    #[test]
    fn what_comes_after_may_use_what_is_left() {
        let limits = Limits { llm_calls: 3, cost: 10, ..Limits::default() };
        let mut budget = Budget::new(&limits);
        budget.claim_call().unwrap();
        budget.settle(&Claim::default(), &Claim { tokens: 5, cost: 4 });
        assert_eq!(budget.rest(&limits), Some(Limits { llm_calls: 2, cost: 6, ..Limits::default() }));
        budget.settle(&Claim::default(), &Claim { tokens: 5, cost: 6 });
        assert_eq!(budget.rest(&limits), None);
    }

    #[test]
    fn a_limit_is_raised_and_never_lowered_and_what_is_used_stays() {
        let limits = Limits { tokens: 10, cost: 2_000_000_000, ..Limits::default() };
        let mut budget = Budget::new(&limits);
        budget.claim(&Claim { tokens: 10, cost: 0 }).unwrap();
        let raised = limits.raised(&Raise { tokens: Some(15), ..Raise::default() }).unwrap();
        budget.raise(&raised);
        assert_eq!((budget.tokens_left(), raised.cost), (5, limits.cost));
        let refused = |raise: Raise| limits.raised(&raise).unwrap_err();
        let lower = Raise { cost: Some(2_000_000_000), ..Raise::default() };
        assert_eq!(refused(lower), "maxCostUsd must be more than 2, the limit there is");
        let lower = Raise { tokens: Some(9), ..Raise::default() };
        assert_eq!(refused(lower), "maxTotalTokens must be more than 10, the limit there is");
        assert_eq!(refused(Raise { llm_calls: Some(9), ..Raise::default() }), "maxTotalLlmCalls has no limit");
    }

    #[test]
    fn zero_means_no_limit_and_a_batch_is_claimed_whole() {
        let mut budget = Budget::new(&Limits { tool_calls: 3, ..Limits::default() });
        assert_eq!(budget.claim(&Claim { tokens: u64::MAX, cost: u64::MAX }), Ok(()));
        assert!(budget.claim_tools(4).is_err());
        assert_eq!(budget.tool_calls(), 0);
        assert_eq!(budget.claim_tools(3), Ok(()));
    }
}
