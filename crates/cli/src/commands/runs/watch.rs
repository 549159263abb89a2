//! `consort runs watch`: a run on a server, shown as it is to the one who started it.

use consort_config::Env;

use crate::client::Target;
use crate::client::ids::Kind;
use crate::commands::call::wrong;
use crate::exit::Exit;
use crate::output::Output;
use crate::show::screen::Look;
use crate::terminal::Terminal;
use crate::watch::{CtrlC, interrupts, watch_there};

/// Watches a run to its end. Reviews are not asked for here.
pub(super) fn run(
    target: &Target,
    run: &str,
    (env, terminal): (&Env<'_>, &Terminal),
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let client = match target.client(env) {
        Ok(client) => client,
        Err(mistake) => return wrong(output, &mistake),
    };
    let look = if target.json { Look::Frames } else { terminal.look };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let run = client.whole_id(Kind::Run, run).await?;
        let keys = (interrupts(), CtrlC::Leaves);
        watch_there((&client, &run), &Terminal { look, person: None }, keys, output).await
    })
}
