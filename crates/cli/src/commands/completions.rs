//! `consort completions`: the script of a shell, in which the ids of a server are
//! completed too; the script asks for them with `consort ids`.

use std::time::Duration;

use clap::{Command, ValueEnum};
use clap_complete::Shell;
use consort_config::Env;
use tokio::time::timeout;

use crate::client::ids::Kind;
use crate::client::{Failure, Target};
use crate::exit::Exit;
use crate::output::Output;

/// The time for an answer while somebody waits for a completion.
const PATIENCE: Duration = Duration::from_secs(2);
/// Ids that are offered, the newest first.
const IDS_MAX: usize = 100;

/// The commands whose first argument is an id.
const TAKE_IDS: [(&str, Things, &[&str]); 4] = [
    ("runs", Things::Runs, &["show", "watch", "cancel", "pause", "resume", "model", "inject", "retry", "fork", "rm"]),
    ("reviews", Things::Reviews, &["decide"]),
    ("threads", Things::Threads, &["show", "rm"]),
    ("workflows", Things::Workflows, &["show", "run"]),
];

/// The things that have ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Things {
    Runs,
    Reviews,
    Threads,
    Workflows,
}

impl Things {
    fn kind(self) -> Kind {
        match self {
            Things::Runs => Kind::Run,
            Things::Reviews => Kind::Review,
            Things::Threads => Kind::Thread,
            Things::Workflows => Kind::Workflow,
        }
    }
}

/// Prints the script of a shell.
pub(crate) fn run(shell: Shell, mut command: Command, output: Output<'_>) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, crate::NAME, &mut script);
    let script = String::from_utf8_lossy(&script);
    write!(output.out, "{}", with_ids(shell, &script))?;
    Ok(Exit::Done)
}

/// Prints ids for a script, one in a line. A server that is away has none, and nobody waits for it long.
pub(crate) fn ids(things: Things, target: &Target, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let Ok(client) = target.client(env) else { return Ok(Exit::Usage) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asked: Result<Result<Vec<String>, Failure>, _> =
        runtime.block_on(async { timeout(PATIENCE, client.newest_ids(things.kind(), IDS_MAX)).await });
    let Ok(Ok(ids)) = asked else { return Ok(Exit::Unreachable) };
    for id in ids {
        writeln!(output.out, "{id}")?;
    }
    Ok(Exit::Done)
}

/// Returns a script that completes ids as well.
fn with_ids(shell: Shell, script: &str) -> String {
    if shell == Shell::Bash {
        format!("{script}\n{}", bash())
    } else if shell == Shell::Zsh {
        zsh(script)
    } else if shell == Shell::Fish {
        format!("{script}{}", fish())
    } else {
        // The other shells complete commands alone.
        script.to_owned()
    }
}

/// Returns the cases of a shell that knows the command and what it does: `runs show) things=runs ;;`.
fn cases() -> String {
    let case = |(command, things, does): &(&str, Things, &[&str])| {
        let words: Vec<String> = does.iter().map(|does| format!("'{command} {does}'")).collect();
        format!("        {}) things={} ;;\n", words.join("|"), name(*things))
    };
    TAKE_IDS.iter().map(case).collect()
}

fn name(things: Things) -> String {
    things.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn bash() -> String {
    format!(
        r#"_consort_or_ids() {{
    local things=
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{}    esac
    [[ $COMP_CWORD -eq 3 && $2 != -* ]] || things=
    [[ $3 == --thread ]] && things=threads
    if [[ -n $things ]]; then
        COMPREPLY=($(compgen -W "latest $(consort ids "$things" 2>/dev/null)" -- "$2"))
    else
        _consort "$@"
    fi
}}
complete -F _consort_or_ids -o nosort -o bashdefault -o default consort
"#,
        cases()
    )
}

fn zsh(script: &str) -> String {
    let function = format!(
        r#"_consort_or_ids() {{
    local things=
    case "$words[2] $words[3]" in
{}    esac
    [[ $CURRENT -eq 4 && $PREFIX != -* ]] || things=
    [[ $words[CURRENT-1] == --thread ]] && things=threads
    if [[ -n $things ]]; then
        compadd -V ids -- latest ${{(f)"$(consort ids $things 2>/dev/null)"}}
    else
        _consort "$@"
    fi
}}

"#,
        cases()
    );
    // The last lines of the script say which function completes the command.
    let (before, last) = script.rsplit_once("if [ \"$funcstack[1]\"").unwrap_or((script, ""));
    let last = last.replace("    _consort \"$@\"", "    _consort_or_ids \"$@\"");
    let last = last.replace("compdef _consort consort", "compdef _consort_or_ids consort");
    let last = if last.is_empty() { last } else { format!("if [ \"$funcstack[1]\"{last}") };
    format!("{before}{function}{last}")
}

fn fish() -> String {
    let line = |(command, things, does): &(&str, Things, &[&str])| {
        let seen = format!("__fish_seen_subcommand_from {command}; and __fish_seen_subcommand_from {}", does.join(" "));
        format!("complete -c consort -n \"{seen}\" -f -k -a \"latest (consort ids {} 2>/dev/null)\"\n", name(*things))
    };
    let lines: String = TAKE_IDS.iter().map(line).collect();
    let thread = "complete -c consort -n \"__fish_seen_subcommand_from chat\" -l thread -x -k \
        -a \"latest (consort ids threads 2>/dev/null)\"\n";
    lines + thread
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn script(shell: Shell) -> String {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut crate::Cli::command(), crate::NAME, &mut script);
        with_ids(shell, &String::from_utf8(script).unwrap())
    }

    #[test]
    fn every_command_whose_ids_are_completed_takes_one_first() {
        let cli = crate::Cli::command();
        for (name, _, does) in TAKE_IDS {
            let command = cli.find_subcommand(name).unwrap();
            for does in does {
                let takes = command.find_subcommand(does).unwrap();
                assert!(takes.get_positionals().next().is_some(), "{name} {does}");
            }
        }
    }

    #[test]
    fn the_scripts_of_three_shells_ask_for_ids() {
        let bash = script(Shell::Bash);
        assert!(bash.contains("'runs show'|'runs watch'|") && bash.contains("complete -F _consort_or_ids"), "{bash}");
        let zsh = script(Shell::Zsh);
        assert!(zsh.ends_with("    _consort_or_ids \"$@\"\nelse\n    compdef _consort_or_ids consort\nfi\n"), "{zsh}");
        assert!(zsh.contains("'reviews decide') things=reviews ;;"), "{zsh}");
        assert!(script(Shell::Fish).contains("-a \"latest (consort ids workflows 2>/dev/null)\""));
    }
}
