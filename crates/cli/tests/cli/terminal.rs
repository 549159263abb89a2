//! The real binary on a terminal: what a person would see, and what they type.

use std::ffi::CString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::binary::signal;
use crate::slow_model::PATIENCE;

/// A program on a terminal of its own.
pub(crate) struct Terminal {
    program: Child,
    keyboard: File,
    pieces: Receiver<Vec<u8>>,
    /// Everything that was sent to the terminal.
    sent: Vec<u8>,
    /// The number of bytes of it that were looked at.
    seen: usize,
}

impl Terminal {
    /// Starts it.
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Terminal {
        // As from a shell: the terminal is its own, so that Ctrl-C is a signal.
        let mut command = Command::new("setsid");
        command.args(["--ctty", env!("CARGO_BIN_EXE_consort")]).args(args).current_dir(folder);
        Terminal::with(command)
    }

    /// Starts it on a terminal with this many columns.
    pub(crate) fn sized(columns: u16, folder: &Path, args: &[&str]) -> Terminal {
        let mut command = Command::new("setsid");
        command.args(["--ctty", env!("CARGO_BIN_EXE_consort")]).args(args).current_dir(folder);
        let (master, name) = pair();
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).unwrap();
        Terminal::on((master, name), command)
    }

    /// Starts a command whose outputs and input are the terminal.
    pub(crate) fn with(command: Command) -> Terminal {
        Terminal::on(pair(), command)
    }

    fn on((master, name): (OwnedFd, CString), mut command: Command) -> Terminal {
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        // What is typed is kept where the test can look at it.
        let state = command.get_current_dir().map(|folder| folder.join("state"));
        command.envs(state.map(|state| ("XDG_STATE_HOME", state)));
        command.stdin(side(&name)).stdout(side(&name)).stderr(side(&name));
        let program = command.spawn().unwrap();
        drop(command);
        let keyboard = File::from(master);
        let pieces = read(keyboard.try_clone().unwrap());
        Terminal { program, keyboard, pieces, sent: Vec::new(), seen: 0 }
    }

    /// Types something.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until this is shown; what was shown up to it.
    pub(crate) fn until(&mut self, words: &str) -> String {
        loop {
            let unseen = &self.sent[self.seen..];
            if let Some(at) = unseen.windows(words.len()).position(|part| part == words.as_bytes()) {
                let shown = String::from_utf8_lossy(&unseen[..at + words.len()]).into_owned();
                self.seen += at + words.len();
                return shown;
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.sent.extend(piece),
                Err(_) => panic!("no {words:?} in {:?}", String::from_utf8_lossy(unseen)),
            }
        }
    }

    /// Makes the terminal this large.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.keyboard, size).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.wait()
    }

    /// Waits for its end; the terminal stays.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.program.wait().unwrap().code()
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, name: &str) {
        signal(&self.program, name);
    }

    /// Returns whether the terminal shows what is typed and collects lines, as in a shell.
    pub(crate) fn echoes(&self) -> bool {
        tcgetattr(&self.keyboard).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    /// Waits for its end; everything that was ever sent to the terminal.
    pub(crate) fn transcript(mut self) -> (Option<i32>, Vec<u8>) {
        let status = self.wait();
        while let Ok(piece) = self.pieces.recv_timeout(PATIENCE) {
            self.sent.extend(piece);
        }
        (status, self.sent)
    }
}

/// Creates a terminal; returns the side of the person, and the name of the program's side.
pub(crate) fn pair() -> (OwnedFd, CString) {
    // Programs that other tests start meanwhile must not keep it open.
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    (master, name)
}

/// Opens the side of the terminal that a program reads from and writes to.
pub(crate) fn side(name: &CString) -> Stdio {
    Stdio::from(open(&**name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap())
}

/// Reads a terminal until its program has ended.
fn read(mut screen: File) -> Receiver<Vec<u8>> {
    let (tell, pieces) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = screen.read(&mut bytes) {
            if tell.send(bytes[..length].to_vec()).is_err() {
                return;
            }
        }
    });
    pieces
}
