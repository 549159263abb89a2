//! `[chat.budget]` and `[run.budget]`: the same keys, other defaults.

use consort_core::budget::Limits;

use super::fields::Fields;
use super::tools::millis;
use super::values::{at_least, duration_or_zero, usd};

/// Reads a budget.
pub(super) fn read(fields: &mut Fields<'_>, default: &Limits) -> Limits {
    let wall_clock = fields.read("max_wall_clock", duration_or_zero);
    Limits {
        depth: fields.read("max_depth", at_least(0)).unwrap_or(default.depth),
        iterations_per_level: fields
            .read("max_iterations_per_level", at_least(0))
            .unwrap_or(default.iterations_per_level),
        parallel_per_turn: fields.read("max_parallel_per_turn", at_least(0)).unwrap_or(default.parallel_per_turn),
        subtasks: fields.read("max_total_subtasks", at_least(0)).unwrap_or(default.subtasks),
        llm_calls: fields.read("max_total_llm_calls", at_least(0)).unwrap_or(default.llm_calls),
        tool_calls: fields.read("max_total_tool_calls", at_least(0)).unwrap_or(default.tool_calls),
        wall_clock_ms: wall_clock.map_or(default.wall_clock_ms, millis),
        tool_result_bytes: fields.read("max_tool_result_bytes", at_least(0)).unwrap_or(default.tool_result_bytes),
        history_tokens: fields.read("max_history_tokens", at_least(0)).unwrap_or(default.history_tokens),
        schema_retries: fields.read("max_schema_retries", at_least(0)).unwrap_or(default.schema_retries),
        tokens: fields.read("max_total_tokens", at_least(0)).unwrap_or(default.tokens),
        cost: fields.read("max_cost_usd", usd).unwrap_or(default.cost),
    }
}
