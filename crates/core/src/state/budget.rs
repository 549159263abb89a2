//! One budget for the whole tree of tasks and subtasks. Every limited amount is claimed before a call is
//! made and settled after, so no interleaving of conversations can spend the same unit twice.

pub use consort_spec::limits::{Breach, Claim, Limits, Raise, Reason};

use consort_spec::catalog::NanoUsd;

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
