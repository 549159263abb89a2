//! One budget for the whole tree. Whatever is limited is claimed before a call
//! is made and settled after, so no interleaving of turns can spend the same
//! unit twice.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Millis;
use crate::requests::catalog::NanoUsd;
use crate::shown::view::usd;

/// What a run may use, all its subtasks included. 0 means no limit, except for
/// `depth`, where it means no subtasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// How deep subtasks may nest.
    pub depth: u32,
    /// Model calls in one task or subtask; a task may allow itself fewer.
    pub iterations_per_level: u32,
    /// Calls of one reply that run side by side; the rest follow one by one.
    pub parallel_per_turn: u32,
    /// Subtasks altogether.
    pub subtasks: u64,
    /// Model calls altogether.
    pub llm_calls: u64,
    /// Tool calls altogether.
    pub tool_calls: u64,
    /// Time of work; waiting for people and being down do not count.
    pub wall_clock_ms: Millis,
    /// Bytes of one tool result the model is shown.
    pub tool_result_bytes: usize,
    /// Tokens of conversation sent at most; older exchanges are dropped.
    pub history_tokens: u64,
    /// How often an answer that breaks its schema is sent back.
    pub schema_retries: u32,
    /// Tokens altogether, read and written.
    pub tokens: u64,
    /// Money altogether.
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

/// Which limit was reached.
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
    /// Which limit.
    pub reason: Reason,
    /// What it is.
    pub limit: u64,
    /// What would have been used, the refused step included.
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

/// What is set aside for one model call until it is known what it used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Tokens, read and written.
    pub tokens: u64,
    /// Money.
    pub cost: NanoUsd,
}

/// A quantity with a limit: spent for certain, or promised to calls under way.
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

    /// What may still be claimed.
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

/// What a run has used and promised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    subtasks: Pool,
    llm_calls: Pool,
    tool_calls: Pool,
    tokens: Pool,
    cost: Pool,
}

impl Budget {
    /// A fresh budget.
    pub fn new(limits: &Limits) -> Budget {
        Budget {
            subtasks: Pool::new(limits.subtasks),
            llm_calls: Pool::new(limits.llm_calls),
            tool_calls: Pool::new(limits.tool_calls),
            tokens: Pool::new(limits.tokens),
            cost: Pool::new(limits.cost),
        }
    }

    /// Tokens that may still be claimed.
    pub fn tokens_left(&self) -> u64 {
        self.tokens.left()
    }

    /// Money that may still be claimed.
    pub fn cost_left(&self) -> NanoUsd {
        self.cost.left()
    }

    /// Money spent, for certain or possibly, by calls that have ended or not.
    pub fn cost_committed(&self) -> NanoUsd {
        self.cost.committed()
    }

    /// Model calls made.
    pub fn llm_calls(&self) -> u64 {
        self.llm_calls.spent
    }

    /// Tool calls made.
    pub fn tool_calls(&self) -> u64 {
        self.tool_calls.spent
    }

    /// Subtasks started.
    pub fn subtasks(&self) -> u64 {
        self.subtasks.spent
    }

    /// Tokens spent or promised.
    pub fn tokens_committed(&self) -> u64 {
        self.tokens.committed()
    }

    /// What is promised to calls under way, of what this limit is about.
    pub fn held(&self, reason: Reason) -> u64 {
        match reason {
            Reason::Tokens => self.tokens.held,
            Reason::Cost => self.cost.held,
            Reason::Subtasks | Reason::LlmCalls | Reason::ToolCalls | Reason::WallClock => 0,
        }
    }

    /// These limits for a model call that comes after everything else: what is
    /// left of calls, tokens and money; none when there is nothing of one.
    pub fn rest(&self, limits: &Limits) -> Option<Limits> {
        let rest = |pool: &Pool| if pool.limit == 0 { Some(0) } else { Some(pool.left()).filter(|left| *left > 0) };
        let (llm_calls, tokens, cost) = (rest(&self.llm_calls)?, rest(&self.tokens)?, rest(&self.cost)?);
        Some(Limits { llm_calls, tokens, cost, ..*limits })
    }

    /// Takes one model call.
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

    /// Replaces a claim by what the call really used.
    pub fn settle(&mut self, claim: &Claim, used: &Claim) {
        self.tokens.settle(claim.tokens, used.tokens);
        self.cost.settle(claim.cost, used.cost);
    }

    /// Takes so many tool calls, all or none.
    pub fn claim_tools(&mut self, calls: u64) -> Result<(), Breach> {
        // Of those that do not fit, the first is the one too many.
        let one_too_many = |breach: Breach| Breach { observed: breach.limit.saturating_add(1), ..breach };
        self.tool_calls.check(calls, Reason::ToolCalls).map_err(one_too_many)?;
        self.tool_calls.spend(calls);
        Ok(())
    }

    /// Takes one subtask.
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
    fn zero_means_no_limit_and_a_batch_is_claimed_whole() {
        let mut budget = Budget::new(&Limits { tool_calls: 3, ..Limits::default() });
        assert_eq!(budget.claim(&Claim { tokens: u64::MAX, cost: u64::MAX }), Ok(()));
        assert!(budget.claim_tools(4).is_err());
        assert_eq!(budget.tool_calls(), 0);
        assert_eq!(budget.claim_tools(3), Ok(()));
    }
}
