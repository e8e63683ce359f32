//! Findings in, clean text and the means to undo it out. Nothing here waits, logs, reads a clock or fetches a key.
//!
//! ```
//! use std::sync::Arc;
//!
//! use portcullis::base::secret::Secret;
//! use portcullis::crypto::fpe::FpeKey;
//! use portcullis::detect::{Catalogue, RuleSelection, Detector};
//! use portcullis::redact::{FindingLimits, Keys, Method, MethodPlan, Redactor};
//!
//! let rules = Catalogue::builtin()?;
//! let detector = Detector::new(&rules, &RuleSelection::defaults(&rules))?;
//! let redactor = Redactor::new(detector, MethodPlan::all(Method::Encrypt));
//! let key = Arc::new(FpeKey::new(Secret::new(vec![7; 32]))?);
//! let keys = Keys { fpe: Some(Arc::clone(&key)), tenant: "acme".into(), ..Keys::default() };
//!
//! let text = "Card 4111 1111 1111 1111, please.";
//! let (redacted, context) = redactor.text(text, &keys, FindingLimits::default())?;
//! assert_eq!(redacted.report().count(), 1);
//! assert_ne!(redacted.value(), text);
//! // What the model says of it comes back as what it was about.
//! let answer = format!("Thank you. {}", redacted.value());
//! assert_eq!(context.restorer(key).text(&answer)?, format!("Thank you. {text}"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | noun |
//! |---|---|
//! | `alphabet` | [`Alphabet`]: what format-preserving encryption encrypts |
//! | `method` | [`Method`], [`MethodPlan`]: what becomes of a finding |
//! | `keys` | [`Keys`] and their [`SurrogateScope`], handed in |
//! | `encrypt` | surrogates of the same format |
//! | `dictionary` | names that stand for names, by culture and gender |
//! | `small_letters` | names that are names in small letters too |
//! | `style` | what surrogates look like |
//! | `surnames` | the surnames of persons that were found by their whole names |
//! | `value` | a value that was found, and what stands for it |
//! | `values` | the distinct values of one text, one replacement for each |
//! | `way_back` | what was issued of them, and is kept |
//! | `spellings` | one value in several spellings, each with the surrogate in its own |
//! | `dialled` | what stands before a phone number within its country |
//! | `carrier` | what holds texts: shows them, and is written with what changes in them |
//! | `pass` | the one pass over whatever lies there whole: find, report, spread, settle, write |
//! | `public_names` | [`PublicNameRules`]: names that name nobody, and pass |
//! | `redactor` | [`Redactor`]: a detector and a plan, and the way to all of these |
//! | `plain` | carriers: a text, a body that is text |
//! | `document` | carriers: a JSON document, one a line |
//! | `json_edits` | edits of the strings and numbers of a document |
//! | `line_lists` | arrays whose strings are the lines of a table |
//! | `json_spelling` | what stands in a string of JSON, spelled as the string is |
//! | `annotated` | [`AnnotatedText`]: the same two, with the places of replacements |
//! | `occurrences` | where the strings of an index stand in a text |
//! | `fragments` | long pieces of secrets that stand alone: a beginning, an end, one line of two |
//! | `parts_index` | where a text is spelled like a part of a surrogate |
//! | `session` | [`Session`]: the messages of one session, one after the other |
//! | `events`, `form`, `formatted`, `multipart` | carriers: an event stream, a form, a table or markup, a body of parts |
//! | `content` | [`Content`]: what a body holds, and so its carrier |
//! | `pieces` | carrier: the texts of one file, for whoever puts them together |
//! | `external_findings` | [`ReplacedValue`]: what stands for values that somebody else found |
//! | `structured` | carrier: [`Selection`]: chosen parts of a document, each with rules of its own |
//! | `table/` | tables in a text, whose heads are context of their cells |
//! | `document_value` | a value where it stands in a document |
//! | `associated_names` | what a document calls its values elsewhere than on the way to them |
//! | `heads` | what the columns of a table in JSON are called |
//! | `line_heads` | the same, where its rows are lines |
//! | `pairs` | elements of arrays that are called by another: flags, pairs, values beside a statement |
//! | `commands` | commands as lists of their words, and which of those are passwords |
//! | `members` | what members are called that hold names, and values that are called by them |
//! | `name_place` | where a name stands in a document |
//! | `secret_objects` | objects of a document whose data is secret whatever it is called |
//! | `siblings` | names that stand beside their values in a document |
//! | `names` | what the values of a document are called |
//! | `document_findings` | what is found in the values of a document, each under its names |
//! | `inline_documents` | documents of JSON that stand within a text: their values, each under its name |
//! | `path_hints` | what the names on the way to strings say of them, in each visit of a carrier |
//! | `escapes`, `unescaped` | what a program reads where a person sees `%20` or `\u0040`, and texts read so |
//! | `findings_cache` | [`FindingsCache`]: what was found in texts that came before |
//! | `file` | [`FileClass`]: text, media, or what somebody else must read |
//! | `opaque` | what a string holds: text, bytes, text in an encoding |
//! | `base64_tokens` | text in base64 in the middle of a text |
//! | `payload` | text in base64 or percent-encoding, and the way out again |
//! | `surrogate_log` | [`SurrogateLog`]: what was issued while text passed, for a file |
//! | `restore` | issued surrogates in text as it passes |
//! | `urls` | [`UrlPolicy`]: whether a value is restored in a URL |
//! | `url_reader` | where URLs stand in a text, and which hosts they lead to |
//! | `url_scheme` | what a URL's scheme says of it |
//! | `url_credentials` | the credentials in a URL that somebody else is to call with them |
//! | `live` | [`Live`]: text as it passes, one way; or the caller's values restored and all others redacted |
//! | `issued` | one surrogate and its original, and how surrogates are told apart |
//! | `recall` | [`Recall`]: what was issued before, to the caller and in the conversation |
//! | `surrogate_map` | [`SurrogateMap`]: issued surrogates and what they stand for; [`FindingLimits`] |
//! | `surrogate_variants` | how else a model may write a surrogate: letter case, escapes, separators, parts |
//! | `form_search` | a walk through those forms along a text |
//! | `parts` | what of a surrogate its forms are found by |
//! | `pem` | which characters of a key in PEM are its own |
//! | `name_form` | other ways to write a person's name |
//! | `written` | an original in the form that its surrogate was written in |
//! | `questions` | what a text of a conversation says of the next one |
//! | `quoted` | characters as programs quote them: `'\''`, `$$`, `[.]`, `\\.` |
//! | `units`, `case` | a text as it is read, character by character; letter case |
//! | `digit_cue` | whether a text has said that last digits follow |
//! | `preceding` | what stands before a place in a text: a boundary, words that announce last digits |
//! | `fpe_context` | [`FpeContext`]: what one call issued, for whoever holds the key |
//! | `restorer` | [`Restorer`]: originals in the place of its surrogates |
//! | `index` | exact strings at token boundaries |
//! | `left_context` | what stands to the left of a place: whether a token may begin there |
//! | `signed` | [`BlockSeal`]: the texts of signed blocks, which must go back as they came |
//! | `answer` | [`AnswerEditor`]: restores, or masks, one channel of an answer |
//! | `encoded` | strings of a document that passes: bytes stay, text in base64 is edited |
//! | `request_words` | [`RequestWords`]: what an answer may repeat, since the request said it |
//! | `report` | [`Report`], [`Redacted`], [`RedactionCounts`] |
//! | `analyzer_findings` | [`AnalyzerFindings`]: what analyzers found in texts, and how it goes together with what the detector finds; [`Texts`]: the texts that they are asked about |
//! | `error` | [`RedactError`] |

mod alphabet;
mod analyzer_findings;
mod annotated;
mod answer;
mod associated_names;
mod base64_tokens;
mod carrier;
mod case;
mod commands;
mod content;
mod dialled;
mod dictionary;
mod digit_cue;
mod document;
mod document_findings;
mod document_value;
mod encoded;
mod encrypt;
mod error;
mod escapes;
mod events;
mod external_findings;
mod file;
mod findings_cache;
#[cfg(test)]
pub(crate) mod fixture;
mod form;
mod form_search;
mod formatted;
mod fpe_context;
mod fragments;
mod heads;
mod index;
mod inline_documents;
mod issued;
mod json_edits;
mod json_spelling;
mod keys;
mod left_context;
mod line_heads;
mod line_lists;
mod live;
mod members;
mod method;
mod multipart;
mod name_form;
mod name_place;
mod names;
mod occurrences;
mod opaque;
mod pairs;
mod parts;
mod parts_index;
mod pass;
mod path_hints;
mod payload;
mod pem;
mod pieces;
mod plain;
mod preceding;
mod public_names;
mod questions;
mod quoted;
mod recall;
mod redactor;
mod report;
mod request_words;
mod restore;
mod restorer;
mod secret_objects;
mod session;
mod siblings;
mod signed;
mod small_letters;
mod spellings;
mod structured;
mod style;
mod surnames;
mod surrogate_log;
mod surrogate_map;
mod surrogate_variants;
mod table;
mod unescaped;
mod units;
mod url_credentials;
mod url_reader;
mod url_scheme;
mod urls;
mod value;
mod values;
mod way_back;
mod written;

pub use alphabet::Alphabet;
pub use analyzer_findings::{AnalyzerFindings, Texts};
pub use annotated::{AnnotatedBytes, AnnotatedText, Placement};
pub use answer::{AnswerEditor, AnswerTreatment, NextRequest};
pub use carrier::{Replacement, TextChanges};
pub use content::{Content, EmbeddedFile, PartContent, TextFields};
pub use error::{BlockedRules, RedactError};
pub use external_findings::ReplacedValue;
pub use file::FileClass;
pub use findings_cache::{CallerDigest, FindingsCache, LookUpCounts, LookUpStats};
pub use fpe_context::{CallRights, FpeContext, KeyName};
pub use keys::{Keys, SurrogateScope};
pub use live::Live;
pub use method::{Digest, Fpe, Method, MethodPlan, PartialMask, Salted};
pub use names::called;
pub use opaque::encodes_text;
pub use pieces::FileText;
pub use public_names::PublicNameRules;
pub use recall::{IssuedToCaller, Recall};
pub use redactor::{MOST_EXPLAINED, Redactor};
pub use report::{PlacedFinding, Redacted, RedactionCounts, Rejected, Report, ReportedFinding, UnreadFile};
pub use request_words::RequestWords;
pub use restorer::Restorer;
pub use session::Session;
pub use signed::{BlockSeal, OpenedSignature, may_have_seals};
pub use structured::{PathTree, Selected, Selection, structured, structured_texts};
pub use surrogate_log::SurrogateLog;
pub use surrogate_map::{FindingLimits, SurrogateMap};
pub use urls::{RestoreInUrls, UrlPolicy};
