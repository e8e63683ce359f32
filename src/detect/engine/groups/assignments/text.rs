//! Reading forwards from a place within bounds. What has not arrived makes an answer wait, in one way everywhere:
//! [`NeedMore`].

use std::cell::Cell;

use super::super::super::track::RestEnd;
use super::super::super::view::View;

/// Text that has not arrived is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NeedMore;

/// The most blanks that are skipped, in bytes.
const BLANKS: usize = 40;

/// A window, read forwards.
#[derive(Clone, Copy)]
pub(super) struct WindowText<'t> {
    pub(super) view: View<'t>,
    pub(super) looked: &'t Cell<LookCost>,
}

/// What looking at one place has cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LookCost {
    /// Where the place stands.
    pub(super) place: usize,
    /// Bytes read, those of a value several times: see [`ScanBudget`](super::super::super::budget::ScanBudget).
    pub(super) steps: usize,
    /// The last value that was checked.
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Steps of checking a value, for each of its bytes.
const CHECKED: usize = 8;

/// What a long value is made of: no blanks, quotes or what parts settings.
pub(super) fn is_dense(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b';' | b'&' | b'\\')
}

/// What stands in a tag, between its angle brackets.
pub(super) const fn is_tag(byte: u8) -> bool {
    !matches!(byte, b'<' | b'>')
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// What base64 is made of, in either alphabet (RFC 4648 sections 4 and 5).
pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

impl WindowText<'_> {
    /// The value `start..end`, which is checked next.
    pub(super) fn value_at(&self, start: usize, end: usize) -> &[u8] {
        let steps = self.looked.get().steps + CHECKED * (end - start);
        self.looked.set(LookCost { steps, start, end, ..self.looked.get() });
        self.view.slice(start, end)
    }

    /// The byte at `at`; none behind the text's end.
    pub(super) fn byte(&self, at: usize) -> Result<Option<u8>, NeedMore> {
        match self.view.get(at) {
            None if !self.view.complete => Err(NeedMore),
            byte => Ok(byte),
        }
    }

    pub(super) fn is(&self, at: usize, expected: u8) -> Result<bool, NeedMore> {
        Ok(self.byte(at)? == Some(expected))
    }

    /// Whether `expected` stands at `at`, in any case.
    pub(super) fn follows(&self, at: usize, expected: &str) -> Result<bool, NeedMore> {
        for (n, byte) in expected.bytes().enumerate() {
            if !self.byte(at + n)?.is_some_and(|one| one.eq_ignore_ascii_case(&byte)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where the run of `class` from `start` ends, `most` bytes on at the latest.
    pub(super) fn run(&self, start: usize, most: usize, class: fn(u8) -> bool) -> Result<usize, NeedMore> {
        let length = self.view.slice(start, start + most).iter().take_while(|&&byte| class(byte)).count();
        let looked = self.looked.get();
        self.looked.set(LookCost { steps: looked.steps + length / 4, ..looked });
        if length < most {
            self.byte(start + length)?;
        }
        Ok(start + length)
    }

    /// Behind spaces and tabs.
    pub(super) fn blanks(&self, start: usize) -> Result<usize, NeedMore> {
        self.run(start, BLANKS, |byte| matches!(byte, b' ' | b'\t'))
    }

    /// Behind spaces, tabs and line ends.
    pub(super) fn space(&self, start: usize) -> Result<usize, NeedMore> {
        self.run(start, BLANKS, |byte| byte.is_ascii_whitespace())
    }

    /// Whether the line ends at `at`, or behind blanks there.
    pub(super) fn ends_line(&self, at: usize) -> Result<bool, NeedMore> {
        Ok(matches!(self.byte(self.blanks(at)?)?, None | Some(b'\n' | b'\r')))
    }

    /// A quote at `at`, escaped or not: which, how many backslashes before it, and where it ends.
    pub(super) fn quote(&self, at: usize) -> Result<Option<Quote>, NeedMore> {
        let behind = self.run(at, 4, |byte| byte == b'\\')?;
        let Some(byte) = self.byte(behind)?.filter(|&byte| is_quote(byte)) else { return Ok(None) };
        Ok(Some(Quote { byte, escapes: behind - at, end: behind + 1 }))
    }

    /// Where the text that `open` opens ends, `most` bytes on at the latest; `None` if it is not closed on the line.
    pub(super) fn closed(&self, open: Quote, most: usize) -> Result<Option<usize>, NeedMore> {
        let mut at = open.end;
        while at < open.end + most {
            let Some(byte) = self.byte(at)? else { return Ok(None) };
            if byte == b'\n' {
                return Ok(None);
            }
            if byte == b'\\' {
                let behind = self.run(at, SLASHES, |byte| byte == b'\\')?;
                let slashes = behind - at;
                let quoted = self.byte(behind)? == Some(open.byte);
                if let Some(escapes) = open.closing_escapes(slashes).filter(|_| quoted) {
                    // A run may go on behind the piece: then that ends within it.
                    return Ok(Some(behind - escapes).filter(|end| *end <= open.end + most));
                }
                at = if slashes == SLASHES { behind } else { behind + 1 };
                continue;
            }
            if byte == open.byte {
                let again = self.spelled_quote(open, at)?;
                if again == at {
                    return Ok(Some(at));
                }
                at = again;
                continue;
            }
            at += 1;
        }
        Ok(None)
    }

    /// Behind the quote at `at` where it stands for itself within its text: doubled, as YAML, SQL and tables have it, or closed and
    /// opened again around it, as shells do. `at` where it closes the text. One that was opened by two is closed by two.
    fn spelled_quote(&self, open: Quote, at: usize) -> Result<usize, NeedMore> {
        let spellings: &[&str] = match open.byte {
            b'\'' => &["''", "'\\''", "'\"'\"'"],
            b'"' => &["\"\""],
            _ => &[],
        };
        let opened = |spelled: &&str| {
            open.end
                .checked_sub(spelled.len())
                .is_some_and(|start| self.view.slice(start, open.end) == spelled.as_bytes())
        };
        if at == open.end || open.escapes > 0 || spellings.iter().any(opened) {
            return Ok(at);
        }
        for spelled in spellings {
            // Three in a row close what three opened.
            if self.follows(at, spelled)? && !(spelled.len() == 2 && self.is(at + 2, open.byte)?) {
                return Ok(at + spelled.len());
            }
        }
        Ok(at)
    }

    /// Where what follows at `start` ends of a value whose beginning is known, `most` bytes on at the latest.
    pub(super) fn rest(&self, start: usize, most: usize, end: RestEnd) -> Result<usize, NeedMore> {
        let RestEnd::Quote(byte, escapes) = end else {
            return self.run(start, most, if end == RestEnd::Line { |byte| byte != b'\n' } else { is_dense });
        };
        // Backslashes that the piece before ended with belong to the sign behind them.
        let head = self.view.slice(start.saturating_sub(SLASHES), start);
        let slashes = head.iter().rev().take_while(|&&byte| byte == b'\\').count();
        match self.closed(Quote { byte, escapes, end: start - slashes }, most + slashes)? {
            Some(end) => Ok(end.max(start)),
            None => self.run(start, most, |byte| byte != b'\n'),
        }
    }

    pub(super) fn before(&self, at: usize) -> Option<u8> {
        self.view.before(at, 1)
    }
}

/// The most backslashes that are counted before a quote.
const SLASHES: usize = 512;

/// A quote that opens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) byte: u8,
    /// Backslashes before it: the text is quoted in a text that is quoted.
    pub(super) escapes: usize,
    pub(super) end: usize,
}

impl Quote {
    /// How many of so many backslashes belong to the same quote behind them, if that closes the text: all others stand for
    /// themselves. It may be the quote of a text around this one, which has fewer.
    fn closing_escapes(self, slashes: usize) -> Option<usize> {
        let mut escapes = Some(self.escapes);
        std::iter::from_fn(|| {
            let own = escapes?;
            escapes = own.checked_sub(1).map(|less| less / 2);
            Some(own)
        })
        .find(|own| slashes % (2 * (own + 1)) == *own)
    }
}
