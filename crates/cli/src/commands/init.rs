//! `consort init`: writes a starter `consort.toml`, and never replaces an existing one.

use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::Context;
use consort_config::{FILE_NAME, STARTER};
use consort_log::private;

use crate::exit::Exit;
use crate::output::Output;

/// Writes the starter into a folder, which is created if needed.
pub(crate) fn run(dir: &Path, output: Output<'_>) -> anyhow::Result<Exit> {
    let path = if dir == Path::new(".") { FILE_NAME.into() } else { dir.join(FILE_NAME) };
    let name = path.display();
    private::create_folder(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    match private::create_file(&path) {
        Ok(mut file) => {
            file.write_all(STARTER.as_bytes()).with_context(|| format!("cannot write {name}"))?;
            output.out.say(format_args!("wrote {name}"))?;
            Ok(Exit::Done)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            output.err.say(format_args!("{name} exists and was left alone"))?;
            Ok(Exit::Usage)
        }
        Err(error) => Err(error).with_context(|| format!("cannot write {name}")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use consort_config::Config;

    use super::*;
    use crate::output::{Reader, Stream};

    fn init(dir: &Path) -> (Exit, String) {
        let mut out = Stream::memory(Reader::Program);
        let mut err = Stream::memory(Reader::Program);
        let exit = run(dir, Output { out: &mut out, err: &mut err }).unwrap();
        (exit, out.text() + &err.text())
    }

    #[test]
    fn the_starter_is_written_once_and_is_the_demo() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("new/folder");
        let path = dir.join(FILE_NAME);
        assert_eq!(init(&dir), (Exit::Done, format!("wrote {}\n", path.display())));
        let config = Config::load(&path, &|_| None).unwrap();
        assert_eq!(config.template, Config::demo().template);

        fs::write(&path, "mine").unwrap();
        assert_eq!(init(&dir), (Exit::Usage, format!("{} exists and was left alone\n", path.display())));
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    }
}
