//! [`Options`]: what is to be done to a file.

use serde::{Deserialize, Serialize};

/// What is to be done to a file: a request's fields over its config's over the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Take file attachments out (`cdr.remove_attachments`).
    pub attachments: bool,
    /// Take scripts, actions, forms and what else acts out (`cdr.remove_interactive`).
    pub interactive: bool,
    /// Look for links, and ask what is known of them and which are to be defanged.
    pub links: bool,
    /// Look for what the detector finds.
    pub redaction: RedactionMode,
    /// What is released.
    #[serde(flatten)]
    pub policy: ReleasePolicy,
    /// Give files within the file names that fit what they are, where theirs do not.
    #[serde(default = "yes")]
    pub fit_names: bool,
}

fn yes() -> bool {
    true
}

/// What becomes of scripts: texts that a program acts on when they are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptPolicy {
    /// They are not released; in an archive or a mail they are left out.
    #[default]
    Refuse,
    /// They are released as texts, under a name that ends in `.txt`.
    Text,
    /// They are released under their own names.
    Pass,
}

/// What becomes of a redacted file of which something was not read: pages of images, characters that cannot be told from their
/// glyphs, parts of a kind that is not rewritten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnreadPolicy {
    /// It is released, and the summary says how much that was.
    #[default]
    Note,
    /// It is not released.
    Refuse,
}

/// What is released and what is not, whoever calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleasePolicy {
    /// Let files of a kind that nobody rewrites pass as they are, once they are scanned.
    pub pass_unknown: bool,
    /// What becomes of scripts. Orders of before do not say.
    #[serde(default)]
    pub scripts: ScriptPolicy,
    /// What becomes of redacted files of which something was not read.
    #[serde(default)]
    pub unread: UnreadPolicy,
}

/// What becomes of what the detector finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedactionMode {
    /// It is not looked for.
    Off,
    /// It is told (`redact_detect_only`).
    Detect,
    /// It is replaced, or removed where nothing can be written in its place.
    Apply,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            attachments: true,
            interactive: true,
            links: true,
            redaction: RedactionMode::Off,
            policy: ReleasePolicy::default(),
            fit_names: true,
        }
    }
}
