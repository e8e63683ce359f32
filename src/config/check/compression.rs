//! Compression: into some coding, each named once.

use crate::config::diagnostics::Diagnostics;
use crate::config::settings::{Compression, Route};
use crate::config::spanned::Spanned;

pub(super) fn all(routes: &[Spanned<Route>], diagnostics: &mut Diagnostics) {
    for compression in routes.iter().filter_map(|route| route.compression.as_ref()) {
        let Compression { codings, .. } = &**compression;
        if codings.is_empty() && !diagnostics.within(&codings.span()) {
            let hint = "leave `compression` out: nothing is compressed then";
            diagnostics.hint(codings.span().start, "`codings` names none", hint);
        }
        for (n, coding) in codings.iter().enumerate() {
            if codings.iter().take(n).any(|other| other == coding) {
                diagnostics.say(coding.span().start, "this coding is named twice");
            }
        }
    }
}
