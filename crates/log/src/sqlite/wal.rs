//! The write-ahead log as a crash has left it, examined before SQLite opens it.
//! SQLite silently ends it at the first frame whose checksum is wrong; committed
//! frames behind that one are lost. They are counted here, and the file is kept.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::{beside, lock};
use crate::private;

/// The size of the file's header.
const HEADER: usize = 32;
/// The size of the header of a frame; a page follows.
const FRAME_HEADER: usize = 24;
/// The beginning of the file; its last bit says that checksums are of big-endian numbers.
const MAGIC: u32 = 0x377f_0682;
/// The largest page SQLite knows.
const PAGE_MAX: usize = 65_536;
/// The maximum number of copies beside a file: with that many, the first one has been reported long ago.
const COPIES_MAX: usize = 100;
/// The end of a copy's name.
const DAMAGED: &str = "-wal.damaged";

/// The part of a damaged write-ahead log that SQLite does not recover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The number of pages that are not recovered.
    pub frames: u64,
    /// The number of commits that are not recovered, or not wholly. The last one may
    /// never have been acknowledged when the machine lost its power.
    pub commits: u64,
    /// The copy of the file as it was found.
    pub copy: PathBuf,
}

/// The counts of a file's frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Frames {
    /// Whole frames of this generation of the file.
    all: u64,
    /// Commits among them.
    commits: u64,
    /// Frames up to the last commit before the first wrong checksum.
    recovered: u64,
    /// The commits that these hold.
    recovered_commits: u64,
}

/// Reports what will be lost of the database at `path`, and keeps a copy of its
/// write-ahead log; `None` when all of it is recovered.
pub(super) fn rescue(path: &Path) -> io::Result<Option<Lost>> {
    let Some((frames, commits)) = lost(path)? else { return Ok(None) };
    let copy = keep(path)?;
    let file = path.display();
    let kept = copy.display();
    tracing::error!(%file, frames, commits, copy = %kept, "the write-ahead log is damaged: commits were lost");
    Ok(Some(Lost { frames, commits, copy }))
}

/// Does the same for a reader that comes before the owner: SQLite forgets the unrecovered part as soon as the file is
/// opened. Does nothing while an owner writes to it.
pub(super) fn rescue_unowned(path: &Path) -> io::Result<Option<Lost>> {
    // Without one there is nothing to lose, and no need for a lock's file.
    if !beside(path, "-wal").exists() {
        return Ok(None);
    }
    lock(path).map_or(Ok(None), |_alone| rescue(path))
}

/// Returns the number of frames and commits that will not be recovered, if any.
fn lost(path: &Path) -> io::Result<Option<(u64, u64)>> {
    let file = match File::open(beside(path, "-wal")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut reader = BufReader::with_capacity(PAGE_MAX * 2, file);
    let mut header = [0; HEADER];
    if !fill(&mut reader, &mut header)? {
        return Ok(None);
    }
    let frames = count(&header, &mut reader)?;
    let indexed = indexed(path, salt(&header)).unwrap_or_default();
    let lost = frames.all.max(indexed).saturating_sub(frames.recovered);
    let commits = frames.commits.saturating_sub(frames.recovered_commits);
    // Frames of a commit that was not finished are no loss: it was never acknowledged.
    let is_loss = commits > 0 || indexed > frames.recovered;
    Ok(is_loss.then_some((lost, commits.max(1))))
}

/// Returns the copies that earlier starts have kept beside a database.
pub(super) fn copies(path: &Path) -> Vec<PathBuf> {
    (1..=COPIES_MAX).map(|number| copy_name(path, number)).filter(|copy| copy.exists()).collect()
}

fn copy_name(path: &Path, number: usize) -> PathBuf {
    let end = if number == 1 { DAMAGED.to_owned() } else { format!("{DAMAGED}-{number}") };
    beside(path, &end)
}

/// Copies the file to a name of its own.
fn keep(path: &Path) -> io::Result<PathBuf> {
    for copy in (1..=COPIES_MAX).map(|number| copy_name(path, number)) {
        match private::create_file(&copy) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_same(path, &copy)? => return Ok(copy),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => {
                let mut created = created?;
                io::copy(&mut File::open(beside(path, "-wal"))?, &mut created)?;
                created.sync_all()?;
                return Ok(copy);
            }
        }
    }
    Err(io::Error::other(format!("there are {COPIES_MAX} damaged write-ahead logs already: remove some")))
}

/// Returns whether a copy was made before.
fn is_same(path: &Path, copy: &Path) -> io::Result<bool> {
    let log = beside(path, "-wal");
    Ok(log.metadata()?.len() == copy.metadata()?.len() && std::fs::read(log)? == std::fs::read(copy)?)
}

/// Walks over all frames of the file.
fn count(header: &[u8; HEADER], reader: &mut impl Read) -> io::Result<Frames> {
    let Header { mut sum, big_endian, page, is_whole } = Header::read(header);
    let mut frames = Frames::default();
    let mut valid = is_whole;
    // The number of every write of the file: frames of earlier ones remain behind its end.
    let mut generation = is_whole.then(|| salt(header));
    let mut frame = vec![0; FRAME_HEADER + page];
    while fill(reader, &mut frame)? {
        let own = number_bytes(&frame, 8);
        if *generation.get_or_insert(own) != own {
            valid = false;
            continue;
        }
        let commits = u64::from(number(&frame, 4) > 0);
        frames.all += 1;
        frames.commits += commits;
        sum = checksum(sum, big_endian, frame.get(..8).unwrap_or_default());
        sum = checksum(sum, big_endian, frame.get(FRAME_HEADER..).unwrap_or_default());
        valid &= sum == (number(&frame, 16), number(&frame, 20));
        if valid && commits > 0 {
            (frames.recovered, frames.recovered_commits) = (frames.all, frames.commits);
        }
    }
    Ok(frames)
}

/// The header of the file.
struct Header {
    sum: (u32, u32),
    big_endian: bool,
    page: usize,
    is_whole: bool,
}

impl Header {
    fn read(bytes: &[u8; HEADER]) -> Header {
        let big_endian = number(bytes, 0) & 1 == 1;
        let sum = checksum((0, 0), big_endian, bytes.get(..24).unwrap_or_default());
        let page = number(bytes, 8) as usize;
        let is_page = page.is_power_of_two() && (512..=PAGE_MAX).contains(&page);
        let is_ours = number(bytes, 0) & !1 == MAGIC && sum == (number(bytes, 24), number(bytes, 28));
        // A damaged header loses the whole file; its frames are most likely of the usual size.
        Header { sum, big_endian, page: if is_page { page } else { 4096 }, is_whole: is_ours && is_page }
    }
}

/// Returns the number of frames that the index beside the file knew of, if it
/// belongs to this generation of it. It is updated after each commit is on the disk.
fn indexed(path: &Path, generation: [u8; 8]) -> Option<u64> {
    let mut header = [0; 48];
    File::open(beside(path, "-shm")).and_then(|mut file| file.read_exact(&mut header)).ok()?;
    let frames = u32::from_ne_bytes(*header.get(16..)?.first_chunk()?);
    (number_bytes(&header, 32) == generation).then_some(u64::from(frames))
}

/// Returns the two numbers that change with every generation of the file.
fn salt(header: &[u8; HEADER]) -> [u8; 8] {
    number_bytes(header, 16)
}

/// Continues a checksum over pairs of numbers.
fn checksum((mut one, mut two): (u32, u32), big_endian: bool, bytes: &[u8]) -> (u32, u32) {
    let read = |bytes: [u8; 4]| if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
    let (words, _rest) = bytes.as_chunks::<4>();
    let (pairs, _rest) = words.as_chunks::<2>();
    for [first, second] in pairs {
        one = one.wrapping_add(read(*first)).wrapping_add(two);
        two = two.wrapping_add(read(*second)).wrapping_add(one);
    }
    (one, two)
}

fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_be_bytes(*bytes))
}

fn number_bytes(bytes: &[u8], at: usize) -> [u8; 8] {
    bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default()
}

/// Fills the buffer; false at the end of the file, also within the buffer.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match reader.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
