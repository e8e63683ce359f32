//! Paths that the file has put before others.

use crate::base::path::RequestPath;
use crate::config::diagnostics::Diagnostics;
use crate::config::spanned::Spanned;

/// Says what is wrong with `written`, which the setting `name` puts before paths.
pub(super) fn sent(name: &str, written: &Spanned<String>, example: &str, diagnostics: &mut Diagnostics) {
    let place = written.span().start;
    if !written.starts_with('/') || written.ends_with('/') || written.contains(['?', '#', ' ']) {
        let message = format!("`{name}` must begin with `/`, not end with it, and be a path only");
        diagnostics.hint(place, message, format!("write it such as \"{example}\""));
        return;
    }
    match RequestPath::parse(written) {
        Err(error) => diagnostics.say(place, format!("`{name}` cannot be sent: {error}")),
        Ok(normal) if normal.sent() != written.as_str() => {
            let message = format!("`{name}` is not in its normal form (RFC 3986 section 6.2.2)");
            let hint = "write it without dot segments, doubled slashes and escapes of unreserved characters";
            diagnostics.hint(place, message, hint);
        }
        Ok(_) => {}
    }
}
