//! The usage of turns, in words. A model without a price is shown as such, not as free
//! of charge.

use consort_core::frame::chat::CostSummary;

use crate::show::words::{counted, dollars, grouped};

/// The usage of one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    input: u64,
    output: u64,
    cached: u64,
    llm_calls: u64,
    tool_calls: u64,
    usd: Option<f64>,
    unpriced: Vec<String>,
}

/// The usage of the turns of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UsageTotals(Vec<Cost>);

impl Cost {
    /// Reads a summary.
    pub(super) fn read(summary: &CostSummary) -> Cost {
        Cost {
            input: summary.input_tokens,
            output: summary.output_tokens,
            cached: summary.cached_tokens,
            llm_calls: summary.llm_calls,
            tool_calls: summary.tool_calls,
            usd: summary.total_usd,
            unpriced: summary.unpriced_models.clone(),
        }
    }

    fn words(&self) -> String {
        let cached = if self.cached > 0 { format!(" ({} cached)", grouped(self.cached)) } else { String::new() };
        let read = grouped(self.input);
        let written = counted(self.output, "token");
        let calls = format!("{}, {}", counted(self.llm_calls, "model call"), counted(self.tool_calls, "tool call"));
        format!("{read} in{cached}, {written} out, {calls}, {}", self.price())
    }

    fn price(&self) -> String {
        match (self.usd, self.unpriced.as_slice()) {
            (Some(usd), _) => dollars(usd),
            (None, []) => "cost unknown".to_owned(),
            (None, models) => format!("unpriced: no price is configured for {}", models.join(", ")),
        }
    }

    fn plus(mut self, other: &Cost) -> Cost {
        self.input += other.input;
        self.output += other.output;
        self.cached += other.cached;
        self.llm_calls += other.llm_calls;
        self.tool_calls += other.tool_calls;
        self.usd = self.usd.zip(other.usd).map(|(usd, more)| usd + more);
        let new = other.unpriced.iter().filter(|model| !self.unpriced.contains(model));
        let new: Vec<String> = new.cloned().collect();
        self.unpriced.extend(new);
        self
    }
}

impl UsageTotals {
    /// Adds a turn.
    pub(super) fn add(&mut self, cost: Cost) {
        self.0.push(cost);
    }

    /// Returns the last turn and the session, one per line.
    pub(super) fn words(&self) -> String {
        let Some(last) = self.0.last() else { return "nothing was used yet".to_owned() };
        let start = Cost { usd: Some(0.0), ..Cost::default() };
        let all = self.0.iter().fold(start, Cost::plus);
        let turns = counted(self.0.len() as u64, "turn");
        format!("last turn  {}\nsession    {} ({turns})", last.words(), all.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_with_an_unpriced_turn_has_no_price_and_says_why() {
        let cost = |usd, unpriced: &[&str]| Cost {
            input: 1_200,
            output: 1,
            llm_calls: 1,
            usd,
            unpriced: unpriced.iter().map(|name| (*name).to_owned()).collect(),
            ..Cost::default()
        };
        let mut usage = UsageTotals::default();
        assert_eq!(usage.words(), "nothing was used yet");
        usage.add(cost(None, &["demo"]));
        usage.add(cost(Some(0.25), &[]));
        let expected = "last turn  1,200 in, 1 token out, 1 model call, 0 tool calls, $0.2500\n\
            session    2,400 in, 2 tokens out, 2 model calls, 0 tool calls, unpriced: no price is configured for demo (2 turns)";
        assert_eq!(usage.words(), expected);
    }
}
