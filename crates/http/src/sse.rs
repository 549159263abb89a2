//! Parses server-sent events as they arrive. Bytes may be split anywhere; comments and events
//! without `data` are skipped.

use std::io::BufRead;

/// An event longer than it may be.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

/// One event; a field that it does not have is empty.
#[derive(Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `id`.
    pub id: &'a [u8],
    /// The name of its type: `event`.
    pub kind: &'a [u8],
    /// The lines of `data`.
    pub data: &'a [u8],
}

/// The events in the bytes that have arrived so far.
#[derive(Debug)]
pub struct Events {
    /// The maximum size of one event in bytes, so that a server cannot fill the memory.
    max: usize,
    buffer: Vec<u8>,
    /// The start of the current line in the buffer.
    line: usize,
    /// The position up to which that line has been searched for its end.
    searched: usize,
    id: Vec<u8>,
    kind: Vec<u8>,
    data: Vec<u8>,
    /// Whether the last event was handed out, so that the next line begins a new one.
    taken: bool,
}

impl Events {
    /// Returns a stream of which nothing has arrived, whose events have at most this many bytes.
    pub fn new(max: usize) -> Events {
        let nothing = Vec::new;
        Events {
            max,
            buffer: nothing(),
            line: 0,
            searched: 0,
            id: nothing(),
            kind: nothing(),
            data: nothing(),
            taken: false,
        }
    }

    /// Returns the buffer to which arriving bytes are appended.
    pub fn inbox(&mut self) -> &mut Vec<u8> {
        self.buffer.drain(..self.line);
        self.searched -= self.line;
        self.line = 0;
        &mut self.buffer
    }

    /// Returns the bytes that are not part of a finished line.
    pub fn rest(&self) -> &[u8] {
        self.buffer.get(self.line..).unwrap_or_default()
    }

    /// Returns the next complete event.
    #[expect(clippy::should_implement_trait, reason = "an event borrows from what has arrived")]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, TooLong> {
        while let Some(end) = self.line_end() {
            let line = self.buffer.get(self.line..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            (self.line, self.searched) = (end + 1, end + 1);
            let is_empty = line.is_empty();
            if std::mem::take(&mut self.taken) || (is_empty && self.data.is_empty()) {
                [&mut self.id, &mut self.kind, &mut self.data].into_iter().for_each(Vec::clear);
            }
            if is_empty && !self.data.is_empty() {
                self.taken = true;
                // Each line was added with its newline; the last is not part of the data.
                let data = self.data.split_last().map_or(&[][..], |(_, data)| data);
                return Ok(Some(Event { id: &self.id, kind: &self.kind, data }));
            }
            if let Some(data) = value(line, b"data:") {
                self.data.extend_from_slice(data);
                self.data.push(b'\n');
            } else if let Some(id) = value(line, b"id:") {
                id.clone_into(&mut self.id);
            } else if let Some(kind) = value(line, b"event:") {
                kind.clone_into(&mut self.kind);
            }
            if self.data.len() > self.max {
                return Err(TooLong);
            }
        }
        self.searched = self.buffer.len();
        if self.rest().len() > self.max { Err(TooLong) } else { Ok(None) }
    }

    /// Returns the end of the current line, if it has arrived.
    fn line_end(&self) -> Option<usize> {
        let mut unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        // Reading from a slice cannot fail; it searches faster than a loop.
        let length = unsearched.skip_until(b'\n').unwrap_or_default();
        let end = self.searched + length.checked_sub(1)?;
        self.buffer.get(end).filter(|byte| **byte == b'\n').map(|_| end)
    }
}

/// Returns the value of a line, if it has this name.
fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let value = line.strip_prefix(name)?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1024;

    fn read(chunks: &[&[u8]]) -> Vec<String> {
        let mut events = Events::new(MAX);
        let mut read = Vec::new();
        for chunk in chunks {
            events.inbox().extend_from_slice(chunk);
            while let Some(Event { id, kind, data }) = events.next().unwrap() {
                let fields = [id, kind, data].map(|field| str::from_utf8(field).unwrap());
                read.push(fields.join("|"));
            }
        }
        read
    }

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_split() {
        let stream =
            ": hello\r\n\r\nevent: x\r\ndata: one\r\ndata:two\r\n\r\nid: 7\ndata: drei €\n\nid: 8\n\ndata:  four\n\n";
        let expected = ["|x|one\ntwo", "7||drei €", "|| four"];
        for at in 0..stream.len() {
            let (front, back) = stream.as_bytes().split_at(at);
            assert_eq!(read(&[front, back]), expected, "split at {at}");
        }
        let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn an_event_without_its_blank_line_is_not_complete() {
        assert!(read(&[b"data: half\n"]).is_empty());
    }

    #[test]
    fn an_endless_line_and_an_endless_event_are_refused() {
        let mut events = Events::new(MAX);
        events.inbox().resize(MAX + 1, b'a');
        assert_eq!(events.next(), Err(TooLong));
        let mut events = Events::new(MAX);
        events.inbox().extend(b"data: 0123456789\n".repeat(MAX / 10));
        assert_eq!(events.next(), Err(TooLong));
    }
}
