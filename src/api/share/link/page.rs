//! What people see of a link in a browser: plain pages without scripts, styles or pictures, which no other site may frame,
//! keep or learn the address of.

use std::fmt::Write;

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};

use crate::api::call::ApiAnswer;
use crate::api::share::archive::ArchiveEntry;
use crate::api::share::link::object::Link;
use crate::api::share::object::ShareObjectKind;

/// The most rows of a list.
const ROWS: usize = 1000;

const POLICY: &str = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Text as a part of a page: in an element or in a quoted attribute.
struct EscapedText<'a>(&'a str);

impl std::fmt::Display for EscapedText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// What no answer to a link goes without, whatever it is: its address is as good as a key.
pub(super) fn protect(headers: &mut HeaderMap) {
    let fields: [(HeaderName, &'static str); 4] = [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-robots-tag"), "noindex, nofollow"),
    ];
    for (name, value) in fields {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
}

fn page(status: StatusCode, title: &str, body: &str) -> ApiAnswer {
    let title = EscapedText(title);
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n</head>\n<body>\n\
         <main>\n<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    );
    ApiAnswer::new(status, "text/html; charset=utf-8", text)
}

/// A page that says one thing.
pub(super) fn notice(status: StatusCode, title: &str, text: &str) -> ApiAnswer {
    page(status, title, &format!("<p>{}</p>\n", EscapedText(text)))
}

/// What everybody sees who follows a link that is none, or none any more.
pub(super) fn nothing() -> ApiAnswer {
    notice(StatusCode::NOT_FOUND, "Nothing is shared here", "The link is wrong, or it is not good any more.")
}

/// Asks for the password. Whoever has none learns nothing else of the link.
pub(super) fn password(status: StatusCode, notice: Option<&str>) -> ApiAnswer {
    let mut body = String::new();
    if let Some(notice) = notice {
        body.push_str(&format!("<p role=\"alert\">{}</p>\n", EscapedText(notice)));
    }
    body.push_str(
        "<form method=\"post\" enctype=\"multipart/form-data\">\n<p><label>Password <input type=\"password\" \
         name=\"password\" required autofocus autocomplete=\"off\"></label> <button>Open</button></p>\n</form>\n",
    );
    page(status, "A password is needed", &body)
}

/// What somebody who came in sees: the entries as far as they may be seen, and folders for new files, by id and path.
pub(super) fn inside(link: &Link, entries: &[ArchiveEntry], folders: &[(String, String)]) -> ApiAnswer {
    let terms = link.terms();
    let mut body = String::new();
    if let Some(message) = &terms.message {
        body.push_str(&format!("<p>{}</p>\n", EscapedText(message)));
    }
    if terms.link_type.reads() {
        list(&mut body, entries, terms.link_type.changes());
    }
    if terms.link_type.adds() {
        upload(&mut body, folders);
    }
    let until = link.expires().iso8601();
    body.push_str(&format!("<p>The link is good until {}.</p>\n", EscapedText(&until)));
    page(StatusCode::OK, terms.title.as_deref().unwrap_or("Shared files"), &body)
}

fn list(body: &mut String, entries: &[ArchiveEntry], changes: bool) {
    if entries.is_empty() {
        body.push_str("<p>There are no files.</p>\n");
        return;
    }
    body.push_str("<ul>\n");
    for entry in entries.iter().take(ROWS) {
        let (id, path) = (&entry.object.id, EscapedText(&entry.path));
        match entry.object.kind {
            ShareObjectKind::File => body.push_str(&format!(
                "<li><a href=\"?file={id}\"><bdi>{path}</bdi></a> ({} bytes)",
                entry.object.size
            )),
            ShareObjectKind::Dir => body.push_str(&format!("<li><bdi>{path}/</bdi>")),
        }
        if changes {
            change(body, entry);
        }
        body.push_str("</li>\n");
    }
    body.push_str("</ul>\n");
    if entries.len() > ROWS {
        body.push_str(&format!("<p>And {} more, which the archive has.</p>\n", entries.len() - ROWS));
    }
    body.push_str(
        "<p>All as one archive: <a href=\"?archive=zip\">ZIP</a>, <a href=\"?archive=tar\">tar</a></p>\n",
    );
}

fn change(body: &mut String, entry: &ArchiveEntry) {
    let (id, name) = (&entry.object.id, EscapedText(&entry.object.name));
    body.push_str(&format!(
        "\n<form method=\"post\" enctype=\"multipart/form-data\"><input type=\"hidden\" name=\"object\" value=\"{id}\">\
         <label>New name <input name=\"name\" value=\"{name}\" maxlength=\"255\"></label> \
         <button name=\"do\" value=\"rename\">Rename</button> \
         <button name=\"do\" value=\"delete\">Delete</button></form>"
    ));
}

fn upload(body: &mut String, folders: &[(String, String)]) {
    if folders.is_empty() {
        return;
    }
    body.push_str("<form method=\"post\" enctype=\"multipart/form-data\">\n<p>");
    // Before the file: what comes first is known when the file comes.
    body.push_str("<label>Folder <select name=\"folder\">");
    for (id, path) in folders.iter().take(ROWS) {
        body.push_str(&format!("<option value=\"{}\">{}</option>", EscapedText(id), EscapedText(path)));
    }
    body.push_str(
        "</select></label> <label>File <input type=\"file\" name=\"file\" required></label> \
         <button>Upload</button></p>\n</form>\n",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_becomes_markup() {
        let text = "<script>alert('1')</script> & \"x\" onload=\"y";
        let shown = EscapedText(text).to_string();
        assert!(!shown.contains(['<', '>', '"', '\'']) && shown.contains("&lt;script&gt;"), "{shown}");
        let answer = notice(StatusCode::OK, text, text);
        let page = std::str::from_utf8(answer.bytes()).unwrap();
        assert!(!page.contains("<script") && page.contains("&amp; &quot;x&quot;"));
    }

    #[test]
    fn every_answer_is_kept_to_itself_and_a_files_own_policy_stays() {
        let mut answer = nothing();
        protect(&mut answer.headers);
        let field = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        assert_eq!(
            ["cache-control", "referrer-policy", "content-security-policy"].map(field),
            ["no-store", "no-referrer", POLICY].map(str::to_owned)
        );
        let mut file = HeaderMap::new();
        file.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
        protect(&mut file);
        assert_eq!(file[CONTENT_SECURITY_POLICY], "sandbox");
    }
}
