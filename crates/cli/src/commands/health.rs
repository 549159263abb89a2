//! `consort health`: whether a server takes work, as an exit status for probes.

use consort_config::Env;

use crate::client::{Call, Target};
use crate::commands::call::{Printed, call};
use crate::exit::Exit;
use crate::output::Output;

/// Executes the command.
pub(crate) fn run(target: &Target, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    call(target, env, output, &Call::get(&["health", "ready"]), |answer, _| Printed::line(answer.line("status")))
}
