//! `make bench`: the cost of a run beside the bare model calls it makes, and of a remote
//! call beside a bare one, measured in turn on the same machine. `--quick` measures less;
//! `--check` exits with 1 when a target is missed; names of parts measure only those parts.

mod around;
mod arrival;
mod bare;
mod binary;
mod child;
mod crowd;
mod effort;
mod growth;
mod instant;
mod items;
mod machine;
mod meter;
mod model_server;
mod peer;
mod recorded;
mod registry;
mod remote;
mod restart;
mod server;
mod stage;
mod stall;
mod table;
mod talk;
mod thousand;
mod three;
mod wide;

use std::process::ExitCode;

use anyhow::bail;

use crate::effort::Effort;
use crate::table::Table;

const USAGE: &str = "usage: consort-bench [--quick] [--check] [three] [thousand] [wide] [items] [growth] [remote] [registry] [server] [talk] [stall] [binary] [arrival] [restart]";
/// The parts that can be measured.
const PARTS: [&str; 13] = [
    "three", "thousand", "wide", "items", "growth", "remote", "registry", "server", "talk", "stall", "binary",
    "arrival", "restart",
];

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Runtime::new()?;
    match arguments.as_slice() {
        [child::SERVE, delay_ms] => model_server::main(delay_ms.parse()?)?,
        [child::CROWD, side, url] => runtime.block_on(thousand::main(side, url))?,
        [child::SERVER, kind @ ..] => runtime.block_on(server::main(kind))?,
        flags => return runtime.block_on(bench(flags)),
    }
    Ok(ExitCode::SUCCESS)
}

async fn bench(flags: &[&str]) -> anyhow::Result<ExitCode> {
    let (options, parts): (Vec<&str>, Vec<&str>) = flags.iter().partition(|flag| flag.starts_with("--"));
    let is_known = |flag: &&&str| ["--quick", "--check"].contains(*flag) || PARTS.contains(*flag);
    if let Some(unknown) = options.iter().chain(&parts).find(|flag| !is_known(flag)) {
        bail!("unknown argument `{unknown}`\n{USAGE}");
    }
    let wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    let effort = if flags.contains(&"--quick") { Effort::QUICK } else { Effort::FULL };
    println!("{}", machine::facts());
    let mut table = Table::default();
    if wanted("three") {
        three::measure(effort, &mut table).await?;
    }
    if wanted("thousand") {
        thousand::measure(effort, &mut table)?;
    }
    if wanted("wide") {
        wide::measure(effort, &mut table).await?;
    }
    if wanted("items") {
        items::measure(effort, &mut table).await?;
    }
    if wanted("growth") {
        growth::measure(effort, &mut table).await?;
    }
    if wanted("remote") {
        remote::measure(effort, &mut table).await?;
    }
    if wanted("registry") {
        registry::measure(effort, &mut table)?;
    }
    if wanted("server") {
        server::measure(effort, &mut table).await?;
    }
    if wanted("talk") {
        talk::measure(effort, &mut table).await?;
    }
    if wanted("stall") {
        stall::measure(effort, &mut table).await?;
    }
    if wanted("binary") {
        binary::measure(effort, &mut table).await?;
    }
    if wanted("arrival") {
        arrival::measure(effort, &mut table).await?;
    }
    if wanted("restart") {
        restart::measure(effort, &mut table).await?;
    }
    println!("\n{table}");
    let failed = flags.contains(&"--check") && table.missed() > 0;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
