//! Scripts, styles and pictures, which are part of the program. Their URLs name what is in them, so browsers keep them for good.

use std::sync::LazyLock;

use data_encoding::HEXLOWER;
use http::header::{CACHE_CONTROL, ETAG};
use http::{HeaderValue, StatusCode};

use crate::api::ApiAnswer;
use crate::crypto::hash::sha256;

/// Where they are.
pub(super) const PATH: &str = "/assets/";

/// One of them.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! assets {
    ($($name:literal $media_type:ident,)*) => {
        const ASSETS: &[Asset] = &[
            $(Asset { name: $name, media_type: $media_type, bytes: include_bytes!(concat!("assets/", $name)) },)*
        ];
    };
}

assets! {
    "charts.js" SCRIPT,
    "console.css" STYLE,
    "configuration.js" SCRIPT,
    "console.js" SCRIPT,
    "editor.js" SCRIPT,
    "icon.svg" PICTURE,
    "sign-in.js" SCRIPT,
    "live.js" SCRIPT,
    "playground.js" SCRIPT,
    "requests.js" SCRIPT,
}

/// Names what is in all of them.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<u8> = ASSETS.iter().flat_map(|asset| sha256(asset.bytes)).collect();
    let digest = HEXLOWER.encode(&sha256(&all));
    digest.chars().take(16).collect()
});

/// Where the one of this name is.
pub(super) fn url(name: &str) -> String {
    format!("{PATH}{name}?v={}", VERSION.as_str())
}

/// The one at this path, if there is one. The icon is asked for under an old name, too.
pub(super) fn answer(path: &str) -> Option<ApiAnswer> {
    let name = if path == "/favicon.ico" { "icon.svg" } else { path.strip_prefix(PATH)? };
    let asset = ASSETS.iter().find(|asset| asset.name == name)?;
    let mut answer = ApiAnswer::new(StatusCode::OK, asset.media_type, asset.bytes);
    answer.headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{}\"", VERSION.as_str())) {
        answer.headers.insert(ETAG, tag);
    }
    Some(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_are_small_together() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.bytes.len()).sum();
        assert!(bytes < 150 << 10, "{bytes} bytes");
    }

    #[test]
    fn they_are_where_their_urls_say() {
        for asset in ASSETS {
            let url = url(asset.name);
            let path = url.split('?').next().unwrap_or_default();
            assert_eq!(answer(path).map(|answer| answer.bytes().len()), Some(asset.bytes.len()), "{url}");
        }
        assert!(answer("/favicon.ico").is_some());
        assert!(answer("/assets/none.js").is_none());
        assert!(answer("/assets/../mod.rs").is_none());
    }
}
