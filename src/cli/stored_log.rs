//! [`StoredLog`]: logs of the store, read as if they were files, one after the other.

use std::io::{self, Read};

use crate::app::OpenStore;

/// Lines read at once.
const PAGE: u32 = 500;

/// The lines of logs, each with its line break.
pub(super) struct StoredLog<'a> {
    opened: &'a OpenStore,
    /// Those that are still to be read.
    logs: &'a [String],
    /// The number of the last line that was read of the first of them.
    last: u64,
    /// What was read of the store and by nobody else yet.
    text: io::Cursor<Vec<u8>>,
}

impl<'a> StoredLog<'a> {
    /// From the first line on.
    pub(super) fn new(opened: &'a OpenStore, logs: &'a [String]) -> Self {
        Self { opened, logs, last: 0, text: io::Cursor::default() }
    }
}

impl Read for StoredLog<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.text.read(into)?;
            let Some((log, rest)) = self.logs.split_first().filter(|_| read == 0 && !into.is_empty()) else {
                return Ok(read);
            };
            let page = self.opened.io.block_on(self.opened.lines.read(log, self.last, PAGE));
            let page = page.map_err(io::Error::other)?;
            let ended = page.len() < PAGE as usize;
            let mut text = Vec::new();
            for line in page {
                text.extend_from_slice(line.text.as_bytes());
                text.push(b'\n');
                self.last = line.number;
            }
            self.text = io::Cursor::new(text);
            if ended {
                (self.logs, self.last) = (rest, 0);
            }
        }
    }
}
