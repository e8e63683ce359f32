//! Compression: into some coding, each named once.

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Compression, Route};
use crate::config::spanned::Spanned;

pub(super) fn all(routes: &[Spanned<Route>], mistakes: &mut Diagnostics) {
    for compression in routes.iter().filter_map(|route| route.compression.as_ref()) {
        let Compression { codings, .. } = &**compression;
        if codings.is_empty() && !mistakes.within(&codings.span()) {
            let hint = "leave `compression` out: nothing is compressed then";
            mistakes.hint(codings.span().start, "`codings` names none", hint);
        }
        for (n, coding) in codings.iter().enumerate() {
            if codings.iter().take(n).any(|other| other == coding) {
                mistakes.say(coding.span().start, "this coding is named twice");
            }
        }
    }
}
