//! `[[schedule]]`: runs that begin when they are due.

use consort_runtime::schedules::Configured;
use consort_runtime::schedules::definition::{Definition, name_mistake};
use consort_runtime::schedules::plan::{CatchUp, Overlap};

use super::fields::Fields;
use super::server::owner;
use super::tools::millis;
use super::typed::Typed;
use super::values::{Parsed, duration, duration_or_zero, json, text, word};

const OVERLAPS: &[(&str, Overlap)] =
    &[("skip", Overlap::Skip), ("queue", Overlap::Queue), ("cancel_previous", Overlap::CancelPrevious)];
const CATCH_UPS: &[(&str, CatchUp)] = &[("none", CatchUp::None), ("one", CatchUp::One), ("all", CatchUp::All)];

/// Reads one `[[schedule]]`.
pub(super) fn read(fields: &mut Fields<'_>) -> Configured {
    let usual = Definition::new("");
    let cron = fields.read("cron", text);
    let every = fields.read("every", duration);
    let definition = Definition {
        name: fields.need("name", name).unwrap_or_default(),
        every_ms: every.map(millis),
        timezone: fields.read("timezone", text).unwrap_or(usual.timezone),
        workflow: fields.read("workflow", text),
        inputs: fields.map("inputs", json).into_iter().collect(),
        overlap: fields.read("overlap", word(OVERLAPS)).unwrap_or_default(),
        catch_up: fields.read("catch_up", word(CATCH_UPS)).unwrap_or_default(),
        window_ms: fields.read("window", duration_or_zero).map_or(usual.window_ms, millis),
        jitter_ms: fields.read("jitter", duration_or_zero).map_or(usual.jitter_ms, millis),
        cron,
    };
    // What could not be read is a mistake already.
    let is_read = fields.has("cron") == definition.cron.is_some() && fields.has("every") == every.is_some();
    if is_read && let Err(mistakes) = definition.timing(0) {
        for mistake in mistakes {
            fields.mistake(&mistake.place, mistake.message);
        }
    }
    Configured { definition, owner: fields.read("owner", owner).unwrap_or_default() }
}

/// Reads a name that is part of addresses.
pub(super) fn name(value: &Typed) -> Parsed<String> {
    let name = text(value)?;
    name_mistake(&name).map_or(Ok(name), Err)
}
