//! The real binary on a terminal: what a person would see, and what they type.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::slow_model::PATIENCE;

/// A program on a terminal of its own.
pub(crate) struct Terminal {
    program: Child,
    keyboard: File,
    pieces: Receiver<String>,
    /// What was shown and not looked at yet.
    shown: String,
}

impl Terminal {
    /// Starts it.
    pub(crate) fn start(folder: &Path, args: &[&str]) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let side = || Stdio::from(open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_consort"));
        command.args(args).current_dir(folder).env("TERM", "xterm").env("NO_COLOR", "1");
        let program = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        drop(command);
        let keyboard = File::from(master);
        let pieces = read(keyboard.try_clone().unwrap());
        Terminal { program, keyboard, pieces, shown: String::new() }
    }

    /// Types something.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until this is shown; what was shown up to it.
    pub(crate) fn until(&mut self, words: &str) -> String {
        loop {
            if let Some(at) = self.shown.find(words) {
                return self.shown.drain(..at + words.len()).collect();
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(piece) => self.shown.push_str(&piece),
                Err(_) => panic!("no {words:?} in {:?}", self.shown),
            }
        }
    }

    /// Waits for its end.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.program.wait().unwrap().code()
    }
}

/// Reads a terminal until nobody is there any more.
fn read(mut screen: File) -> Receiver<String> {
    let (tell, pieces) = channel();
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = screen.read(&mut bytes) {
            if tell.send(String::from_utf8_lossy(&bytes[..length]).into_owned()).is_err() {
                return;
            }
        }
    });
    pieces
}
