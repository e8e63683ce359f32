//! What a sanitize call asks (specification, "Sanitize request fields"), and the parameters its answer echoes.

use std::ops::RangeInclusive;

use data_encoding::{BASE64, HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::base::pointer::Pointer;

/// The longest name of a file, in characters.
const NAME: RangeInclusive<usize> = 1..=255;

/// The longest URL, in characters.
const URL: RangeInclusive<usize> = 1..=2048;

/// Ids have a prefix and 32 characters.
const ID: RangeInclusive<usize> = 36..=128;

/// The longest folder, in characters.
const FOLDER: RangeInclusive<usize> = 0..=1024;

/// How a body came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// As JSON alone.
    Json,
    /// In two parts, of which this is `request`.
    Multipart,
}

/// Where the file is.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FileSource {
    /// In the same body.
    Multipart,
    /// At this URL.
    Url(String),
    /// It will be put to a URL that the answer names.
    Put,
    /// It will be posted to a URL that the answer names.
    Post,
    /// In the share of files, under this id.
    Share(String),
}

/// What a file's bytes must be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ExpectedFile {
    /// So many bytes.
    pub(super) size: Option<u64>,
    /// Their CRC32C.
    pub(super) crc32c: Option<u32>,
    /// Their SHA-256, in lower-case hexadecimal digits.
    pub(super) sha256: Option<String>,
}

/// The fields that a config may say otherwise, as far as the call names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfigurableFields {
    pub(super) scan_provider: Option<String>,
    pub(super) url_intel: Option<bool>,
    pub(super) url_intel_provider: Option<String>,
    pub(super) domain_intel: Option<bool>,
    pub(super) domain_intel_provider: Option<String>,
    pub(super) defang: Option<bool>,
    pub(super) defang_threshold: Option<u32>,
    pub(super) redact: Option<bool>,
    pub(super) redact_detect_only: Option<bool>,
    pub(super) share: Option<bool>,
    pub(super) output_folder: Option<String>,
}

/// A whole call.
pub(super) struct SanitizeRequest {
    pub(super) source: FileSource,
    pub(super) name: Option<String>,
    pub(super) proof: ExpectedFile,
    pub(super) config: Option<String>,
    pub(super) chosen: ConfigurableFields,
    /// As received.
    pub(super) parameters: Map<String, Value>,
}

impl SanitizeRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// All its faults at once.
    pub(super) fn read(body: &Value, encoding: Encoding) -> Result<Self, ApiError> {
        let mut fields = ObjectFields::of(body)?;
        let method = method(&mut fields, encoding);
        let given = |name: &str| body.get(name).is_some();
        let url = fields.text_within("source_url", URL).map(str::to_owned);
        if url.as_deref().is_some_and(|url| !is_web(url)) {
            let at = fields.at("source_url");
            fields.fault(Code::BadFormatURI, at, "must be an absolute http or https URL");
        }
        let share_id = fields.text_within("share_id", ID).map(str::to_owned);
        let name = fields.text_within("uploaded_file_name", NAME).map(str::to_owned);
        let proof = proof(&mut fields);
        for needed in method.needs() {
            if !given(needed) {
                let at = fields.at(needed);
                fields.fault(Code::FieldRequired, at, format!("`{needed}` is required for this method"));
            }
        }
        let config = fields.text("config_id").map(str::to_owned);
        let chosen = chosen(&mut fields);
        fields.close()?;
        let source = match method {
            TransferMethod::Multipart => FileSource::Multipart,
            TransferMethod::SourceUrl => FileSource::Url(url.unwrap_or_default()),
            TransferMethod::PutUrl => FileSource::Put,
            TransferMethod::PostUrl => FileSource::Post,
            TransferMethod::ShareId => FileSource::Share(share_id.unwrap_or_default()),
        };
        let mut parameters = body.as_object().cloned().unwrap_or_default();
        parameters.entry("transfer_method").or_insert_with(|| json!(method.word()));
        Ok(Self { source, name, proof, config, chosen, parameters })
    }

    /// Where the file comes from, in the body: for faults of the file itself.
    pub(super) fn at(source: &FileSource) -> Pointer {
        Pointer::root().key(match source {
            FileSource::Multipart => "upload",
            FileSource::Url(_) => "source_url",
            FileSource::Put | FileSource::Post => "uploaded_file_name",
            FileSource::Share(_) => "share_id",
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TransferMethod {
    Multipart,
    SourceUrl,
    PutUrl,
    PostUrl,
    ShareId,
}

impl TransferMethod {
    const WORDS: [(&'static str, Self); 5] = [
        ("multipart", Self::Multipart),
        ("source-url", Self::SourceUrl),
        ("put-url", Self::PutUrl),
        ("post-url", Self::PostUrl),
        ("share-id", Self::ShareId),
    ];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, method)| *method == self).map_or("", |(word, _)| word)
    }

    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Multipart => &[],
            Self::SourceUrl => &["source_url"],
            Self::PutUrl => &["uploaded_file_name"],
            Self::PostUrl => &["uploaded_file_name", "size", "crc32c", "sha256"],
            Self::ShareId => &["share_id"],
        }
    }
}

/// One that does not fit how the body came is as wrong as an unknown one.
fn method(fields: &mut ObjectFields<'_>, encoding: Encoding) -> TransferMethod {
    const NAME: &str = "transfer_method";
    let words = match encoding {
        Encoding::Json => &TransferMethod::WORDS[1..],
        Encoding::Multipart => &TransferMethod::WORDS[..1],
    };
    if encoding == Encoding::Json && fields.member(NAME).is_none() {
        fields.fault(Code::FieldRequired, fields.at(NAME), "`transfer_method` is required in a JSON body");
    }
    // Where there is a fault, what the method would need cannot be known: that fault is enough.
    fields.one_of(NAME, words).unwrap_or(TransferMethod::Multipart)
}

fn proof(fields: &mut ObjectFields<'_>) -> ExpectedFile {
    let size = fields.number("size", f64::MIN..=f64::MAX).filter(|&size| {
        if size < 0.0 {
            fields.fault(Code::IsTooSmall, fields.at("size"), "must be at least 0");
        }
        size >= 0.0
    });
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and in range")]
    let size = size.and_then(|size| {
        // More is more than any limit, however much.
        (size.fract() == 0.0).then_some(size.min(9e15) as u64).or_else(|| {
            let at = fields.at("size");
            fields.fault(Code::InvalidInteger, at, "must be a whole number of bytes");
            None
        })
    });
    let crc32c = fields.text("crc32c").and_then(|text| {
        let crc = crc_of(text);
        if crc.is_none() {
            let at = fields.at("crc32c");
            fields.fault(
                Code::BadFormatBase64,
                at,
                "must be four bytes in base64, or in 8 hexadecimal digits",
            );
        }
        crc
    });
    let sha256 = fields.text("sha256").map(str::to_owned);
    if sha256.as_ref().is_some_and(|hex| hex.len() != 64 || HEXLOWER.decode(hex.as_bytes()).is_err()) {
        let at = fields.at("sha256");
        fields.fault(Code::DoesNotMatchPattern, at, "must be 64 lower-case hexadecimal digits");
    }
    ExpectedFile { size, crc32c, sha256 }
}

/// The specification says base64; every SDK sends hexadecimal digits.
fn crc_of(text: &str) -> Option<u32> {
    let hex = (text.len() == 8).then(|| HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()).flatten();
    let bytes: [u8; 4] = hex.or_else(|| BASE64.decode(text.as_bytes()).ok())?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

fn is_web(url: &str) -> bool {
    let uri = url.parse::<http::Uri>();
    uri.is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some())
}

fn chosen(fields: &mut ObjectFields<'_>) -> ConfigurableFields {
    let mut chosen = ConfigurableFields::default();
    let text = |fields: &mut ObjectFields<'_>, name| fields.text_within(name, 1..=64).map(str::to_owned);
    fields.object("file", |file| chosen.scan_provider = text(file, "scan_provider"));
    fields.object("content", |content| {
        chosen.url_intel = content.flag("url_intel");
        chosen.url_intel_provider = text(content, "url_intel_provider");
        chosen.domain_intel = content.flag("domain_intel");
        chosen.domain_intel_provider = text(content, "domain_intel_provider");
        chosen.defang = content.flag("defang");
        chosen.defang_threshold = content.integer("defang_threshold", 0);
        if chosen.defang_threshold.is_some_and(|threshold| threshold > 100) {
            let at = content.at("defang_threshold");
            content.fault(Code::NotWithinRange, at, "must lie between 0 and 100");
        }
        chosen.redact = content.flag("redact");
        chosen.redact_detect_only = content.flag("redact_detect_only");
    });
    fields.object("share_output", |share| {
        chosen.share = share.flag("enabled");
        chosen.output_folder = share.text_within("output_folder", FOLDER).map(str::to_owned);
    });
    chosen
}

impl ExpectedFile {
    /// What of a file's bytes is not as promised.
    pub(super) fn check(&self, bytes: &[u8], sha256: &str) -> Faults {
        let mut faults = Faults::default();
        let mut wrong = |name: &str, wrong: bool| {
            if wrong {
                let detail = format!("the file that arrived has another `{name}`: make the call anew for it");
                faults.add(Code::BadState, Pointer::root().key(name), detail);
            }
        };
        wrong("size", self.size.is_some_and(|size| size != bytes.len() as u64));
        wrong("crc32c", self.crc32c.is_some_and(|crc| crc != crate::crypto::hash::crc32c(0, bytes)));
        wrong("sha256", self.sha256.as_ref().is_some_and(|promised| promised != sha256));
        faults
    }
}

impl std::fmt::Debug for FileSource {
    // A URL may hold a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Multipart => "Multipart",
            Self::Url(_) => "Url",
            Self::Put => "Put",
            Self::Post => "Post",
            Self::Share(_) => "Share",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(body: &Value, encoding: Encoding) -> Vec<String> {
        match SanitizeRequest::read(body, encoding) {
            Ok(_) => Vec::new(),
            Err(ApiError::Validation(faults)) => faults.iter().map(|f| f.source.to_string()).collect(),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn every_method_wants_its_companions() {
        let rows = [
            (json!({}), vec!["/transfer_method"]),
            (json!({"source_url": "http://a/"}), vec!["/transfer_method"]),
            (json!({"transfer_method": null}), vec!["/transfer_method"]),
            (json!({"transfer_method": "source-url"}), vec!["/source_url"]),
            (json!({"transfer_method": "carrier-pigeon"}), vec!["/transfer_method"]),
            (json!({"transfer_method": "multipart"}), vec!["/transfer_method"]),
            (json!({"transfer_method": "source-url", "source_url": "ftp://a/b"}), vec!["/source_url"]),
            (json!({"transfer_method": "share-id", "share_id": "short"}), vec!["/share_id"]),
            (json!({"transfer_method": "put-url"}), vec!["/uploaded_file_name"]),
            (
                json!({"transfer_method": "post-url"}),
                vec!["/crc32c", "/sha256", "/size", "/uploaded_file_name"],
            ),
            (json!({"transfer_method": "put-url", "uploaded_file_name": "a", "size": -1}), vec!["/size"]),
            (
                json!({"transfer_method": "put-url", "uploaded_file_name": "a", "content": {"defang": "yes"}}),
                vec!["/content/defang"],
            ),
            (
                json!({"transfer_method": "source-url", "source_url": "http://a/", "content": {"defang_threshold": 101}}),
                vec!["/content/defang_threshold"],
            ),
        ];
        for (body, expected) in rows {
            assert_eq!(sources(&body, Encoding::Json), expected, "{body}");
        }
        assert!(sources(&json!({}), Encoding::Multipart).is_empty());
        assert_eq!(
            sources(&json!({"transfer_method": "put-url"}), Encoding::Multipart),
            ["/transfer_method"]
        );
    }

    #[test]
    fn a_crc_comes_in_two_spellings() {
        // RFC 3720, appendix B.4: 32 bytes of zeros.
        let crc = crate::crypto::hash::crc32c(0, &[0; 32]);
        assert_eq!(crc, 0x8a91_36aa);
        assert_eq!(crc_of("8a9136aa"), Some(crc));
        assert_eq!(crc_of(&BASE64.encode(&crc.to_be_bytes())), Some(crc));
        assert_eq!(crc_of("8a9136a"), None);
    }
}
