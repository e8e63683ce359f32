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
                if open.is_closed_behind(slashes) && self.byte(behind)? == Some(open.byte) {
                    return Ok(Some(behind - slashes.min(open.escapes)));
                }
                at = behind + 1;
                continue;
            }
            if byte == open.byte {
                return Ok(Some(at));
            }
            at += 1;
        }
        Ok(None)
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
const SLASHES: usize = 16;

/// A quote that opens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) byte: u8,
    /// Backslashes before it: the text is quoted in a text that is quoted.
    pub(super) escapes: usize,
    pub(super) end: usize,
}

impl Quote {
    /// Whether the same quote behind so many backslashes closes the text: its own, behind any number of backslashes that stand for
    /// themselves; or one of the text around it, which has fewer.
    const fn is_closed_behind(self, slashes: usize) -> bool {
        slashes <= self.escapes || slashes % (2 * (self.escapes + 1)) == self.escapes
    }
}
