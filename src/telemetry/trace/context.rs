//! [`TraceContext`]: W3C Trace Context (Recommendation of 23 November 2021), section 3.2.

use std::fmt;

/// The header that carries it.
pub const TRACEPARENT: &str = "traceparent";

/// The header that goes with it, and is passed on as it came.
pub const TRACESTATE: &str = "tracestate";

/// The id of a trace; never all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId(pub(super) u128);

/// The id of a span; never all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId(pub(super) u64);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Where a request stands in somebody's trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The trace.
    pub trace: TraceId,
    /// The span that the next one is a child of.
    pub span: SpanId,
    /// Whether it is recorded.
    pub sampled: bool,
}

impl TraceContext {
    /// Reads the value of `traceparent`; `None` if it is none, and the caller has no trace then. A later version may have
    /// more after these four fields.
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.splitn(5, '-');
        let (version, trace, span, flags) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        let version = hex(version, 2)?;
        if version == 0xff || version == 0 && fields.next().is_some() {
            return None;
        }
        let trace = TraceId(hex(trace, 32).filter(|id| *id != 0)?);
        let span = u64::try_from(hex(span, 16)?).ok().filter(|id| *id != 0)?;
        Some(Self { trace, span: SpanId(span), sampled: hex(flags, 2)? & 1 == 1 })
    }
}

/// Lower-case digits only.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let fine = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    fine.then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_read_as_the_recommendation_says() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let good = format!("00-{trace}-b7ad6b7169203331-01");
        let context = TraceContext::parse(&good).unwrap();
        assert!(context.sampled);
        assert_eq!(context.to_string(), good);
        let later = TraceContext::parse(&format!("cc-{trace}-b7ad6b7169203331-02-more-of-it")).unwrap();
        assert_eq!((later.trace, later.sampled), (context.trace, false));
        for bad in [
            "".to_owned(),
            "00".to_owned(),
            format!("ff-{trace}-b7ad6b7169203331-01"),
            format!("00-{trace}-b7ad6b7169203331-01-more"),
            format!("00-{trace}-b7ad6b7169203331"),
            format!("00-{trace}-0000000000000000-01"),
            format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)),
            format!("00-{}-b7ad6b7169203331-01", trace.to_uppercase()),
            format!("00-{trace}-b7ad6b716920333-01"),
            format!("00-{trace}-b7ad6b7169203331-+1"),
            format!("00-{}-b7ad6b7169203331-01", "é".repeat(16)),
        ] {
            assert_eq!(TraceContext::parse(&bad), None, "{bad}");
        }
    }
}
