//! A shell with a folder of its own, in which one page is tried. A server
//! listens on any free port, and the ports of the page are taken for the real
//! ones in whatever is typed and back in whatever is printed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

/// Ends what a command prints; its status follows.
const END: &str = "-- end of the command --";
/// The default port of `consort serve`.
const PORT: &str = "7329";

/// A shell.
pub(crate) struct Shell {
    folder: TempDir,
    bash: Child,
    typed: ChildStdin,
    printed: BufReader<ChildStdout>,
    /// The addresses of the page, and the real ones.
    addresses: Vec<(String, String)>,
}

impl Shell {
    /// Starts a shell in a new folder, which finds `consort` and has the keys that pages name.
    pub(crate) fn start() -> Shell {
        let folder = tempfile::tempdir().unwrap();
        let binary = Path::new(env!("CARGO_BIN_EXE_consort")).parent().unwrap();
        let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc"]).current_dir(folder.path()).env("PATH", path).env_remove("CONSORT_URL");
        for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "SEARCH_KEY", "WIKI_TOKEN", "ISSUES_TOKEN"]
        {
            bash.env(key, "a key of nobody");
        }
        let mut bash = bash.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut typed = bash.stdin.take().unwrap();
        let printed = BufReader::new(bash.stdout.take().unwrap());
        // Nothing that was started outlives the page.
        writeln!(typed, "exec 2>&1; trap 'kill -9 $SERVERS 2>/dev/null' EXIT").unwrap();
        Shell { folder, bash, typed, printed, addresses: Vec::new() }
    }

    /// Returns its folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a text of the page with the real addresses.
    pub(crate) fn real(&self, text: &str) -> String {
        self.addresses.iter().fold(text.to_owned(), |text, (shown, real)| text.replace(shown, real))
    }

    /// Returns the server that was started last.
    pub(crate) fn server(&self) -> &str {
        &self.addresses.last().unwrap().1
    }

    /// Types a command; what it prints, and its status.
    pub(crate) fn type_in(&mut self, command: &str) -> (String, i32) {
        match command.strip_suffix(" &").filter(|command| command.starts_with("consort serve")) {
            Some(serve) => self.serve(serve),
            None => self.run(&self.real(command)),
        }
    }

    fn run(&mut self, command: &str) -> (String, i32) {
        let restore = "(exit $status)";
        writeln!(self.typed, "{{ {command}\n}} </dev/null\nstatus=$?; echo; echo '{END}' $status; {restore}").unwrap();
        let mut told = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.printed.read_line(&mut line).unwrap(), 0, "the shell is gone: {command}\n{told}");
            if let Some(status) = line.strip_prefix(END) {
                // The line before is ours.
                let told = told.strip_suffix('\n').unwrap_or(&told);
                return (self.shown(told), status.trim().parse().unwrap());
            }
            told += &line;
        }
    }

    /// Starts a server and waits until it says where it listens.
    fn serve(&mut self, command: &str) -> (String, i32) {
        let (command, port) = match command.split_once(" --port ") {
            Some((command, rest)) => {
                let (port, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                (format!("{command} {rest}"), port.to_owned())
            }
            None => (command.to_owned(), PORT.to_owned()),
        };
        let ready = format!("ready-{}", self.addresses.len());
        let typed = format!(
            "rm -f {ready}; mkfifo {ready}; {command} --port 0 >{ready} 2>>server.log & \
             SERVERS=\"$SERVERS $!\"; exec {{ready}}<{ready}; read -r line <&$ready || cat server.log; echo \"$line\""
        );
        let (told, status) = self.run(&self.real(&typed));
        let real = told.trim_end().rsplit_once("http://").map(|(_, address)| address.to_owned());
        let real = real.unwrap_or_else(|| panic!("{command}: {told}"));
        let shown = format!("127.0.0.1:{port}");
        self.addresses.retain(|(known, _)| *known != shown);
        self.addresses.push((shown, real.clone()));
        // What the page types without an address means the server it started last.
        self.run(&format!("export CONSORT_URL=http://{real}"));
        (self.shown(&told), status)
    }

    /// Returns a printed text with the addresses of the page.
    fn shown(&self, told: &str) -> String {
        self.addresses.iter().fold(told.to_owned(), |told, (shown, real)| told.replace(real, shown))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _gone = writeln!(self.typed, "exit");
        let _status = self.bash.wait();
    }
}
