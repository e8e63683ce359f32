//! Text from standard input to standard output, as it comes: `kubectl logs … | portcullis redact`.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;

use crate::app::blocks::{Arrival, Blocks};
use crate::app::error::AppError;
use crate::app::lines::{Armour, Continued};
use crate::app::open_store::OpenStore;
use crate::app::text_scans::TextScans;
use crate::base::budget::MemoryBudget;
use crate::base::id::ItemId;
use crate::base::secret::Secret;
use crate::config::Config;
use crate::detect::{Detector, NextScan};
use crate::redact::{
    AnswerEditor, FindingLimits, FpeContext, KeyName, Keys, Method, MethodPlan, RedactError, RedactionCounts,
    Redactor, Selected, SurrogateLog, SurrogateMap, structured,
};
use crate::store::StoreError;
use crate::store::private::NewFile;
use crate::stream::{Editor, Rewriter, StreamError, TextBody};
use crate::vault::Vault;
use crate::vault::items::Items;

/// Where nothing more comes for so long, somebody may wait for the lines that came.
const PAUSE: Duration = Duration::from_millis(200);

/// The largest document, in bytes.
const MAX_DOCUMENT: u64 = 1 << 30;

/// Whose surrogates are made on the command line: the store's one tenant.
const TENANT: &str = "default";

/// The largest context file that is read, in bytes: more than the largest one written.
const MAX_CONTEXT: u64 = 64 << 20;

/// Where text comes from and goes to.
pub struct PipeEnds<'a> {
    /// Read to its end.
    pub input: Box<dyn Read + Send>,
    /// Flushed after every piece, so that a reader of a live log sees it at once.
    pub output: &'a mut dyn Write,
    /// How many look for values, where text is redacted as it comes.
    pub threads: usize,
}

/// Looks through text before its editor comes to it.
struct ScansAhead {
    scans: TextScans,
    /// Where the editor takes them from.
    next: NextScan,
    threads: usize,
}

impl ScansAhead {
    /// Does not.
    fn none() -> Self {
        Self { scans: TextScans::none(), next: NextScan::default(), threads: 1 }
    }

    /// On so many threads.
    fn on(threads: usize, detector: Detector) -> Self {
        Self { scans: TextScans::parted(detector), next: NextScan::default(), threads }
    }
}

impl PipeEnds<'_> {
    /// Edits what comes, as it comes. What could still become part of a value waits for the rest of it, but where the
    /// input pauses after a line, no longer than that: the line is decided as if the text ended there.
    fn run<E: Editor>(self, editor: E, ahead: ScansAhead) -> Result<(), AppError> {
        let redact = |error: StreamError| AppError::Redact(error.to_string());
        let reading = |error: std::io::Error| AppError::Io(format!("reading: {error}"));
        let input = self.input;
        let ScansAhead { scans, next, threads } = ahead;
        let blocks = Blocks::new(scans, threads, move |parts| {
            parts.read(input, reading);
        });
        let mut blocks = blocks.map_err(reading)?;
        let (mut editor, mut armour) = (Continued::new(editor), Armour::default());
        let mut out = BytesMut::new();
        loop {
            editor.go_on().map_err(redact)?;
            let mut body = TextBody::new(&mut editor, &MemoryBudget::unlimited());
            loop {
                let waits = body.held() > 0 && armour.is_between();
                let mut arrival = blocks.take(waits.then_some(PAUSE))?;
                let rewritten = match &mut arrival {
                    Arrival::Block(block) => {
                        next.put(block.done.take().flatten());
                        body.write(&block.bytes, &mut out)
                    }
                    Arrival::End | Arrival::Pause => body.finish(&mut out),
                };
                rewritten.map_err(redact)?;
                self.output.write_all(&out).and_then(|()| self.output.flush()).map_err(written)?;
                out.clear();
                match arrival {
                    Arrival::Block(block) => armour.pass(&block.bytes),
                    Arrival::End => return Ok(()),
                    Arrival::Pause => break,
                }
            }
        }
    }
}

fn written(error: std::io::Error) -> AppError {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => AppError::Pipe,
        _ => AppError::Io(format!("writing: {error}")),
    }
}

fn redactor(method: Method, detector: Detector) -> (Redactor, Arc<RedactionCounts>) {
    let counts = Arc::new(RedactionCounts::new(detector.rule_count()));
    (Redactor::new(detector, MethodPlan::all(method)), counts)
}

fn total(counts: &RedactionCounts) -> u64 {
    counts.by_rule().iter().map(|(_, count)| count).sum()
}

/// Redaction of piped text.
pub mod redact {
    use super::*;

    /// Replaces what `detector` finds, for good; returns how many values.
    ///
    /// # Errors
    /// Input and output.
    pub fn one_way(piped: PipeEnds<'_>, method: Method, detector: Detector) -> Result<u64, AppError> {
        if detector.reads_names() {
            return at_once(piped, method, detector, None);
        }
        let ahead = ScansAhead::on(piped.threads, detector.clone());
        let (redactor, counts) = super::redactor(method, detector);
        let live = redactor.live(&Keys::default(), Arc::clone(&counts));
        piped.run(live.with_scans_ahead(ahead.next.clone()), ahead)?;
        Ok(total(&counts))
    }

    /// Redacts a JSON document, the parts of it that `paths` find (JSONPath, RFC 9535; without one, every string). With
    /// a new file to write the way back to, what is found gets surrogates. Returns how many values.
    ///
    /// # Errors
    /// As [`reversible`]; also what is no JSON, and paths that are none.
    pub fn document(
        piped: PipeEnds<'_>,
        method: Method,
        detector: Detector,
        paths: &[String],
        back: Option<(&Config, &Path)>,
    ) -> Result<u64, AppError> {
        let back = back.map(|(config, context)| Back::new(config, context)).transpose()?;
        let keys = back
            .as_ref()
            .map_or_else(|| Ok(Keys { tenant: TENANT.into(), ..Keys::default() }), Back::keys)?;
        let method = if back.is_some() { Method::Encrypt } else { method };
        let (redactor, _) = super::redactor(method, detector);
        let json = whole(piped.input)?;
        let which = crate::api::redact::select(&json, paths).map_err(AppError::Usage)?;
        let selected = Selected { selection: &which, redactors: &[redactor], detail: false };
        let done = structured(json.as_bytes(), selected, &keys, FindingLimits::default());
        let (redacted, issued) = done.map_err(|error| AppError::Redact(error.to_string()))?;
        if let Some(back) = back {
            back.publish(&issued.to_bytes())?;
        }
        piped.output.write_all(redacted.value()).and_then(|()| piped.output.flush()).map_err(written)?;
        Ok(redacted.report().count() as u64)
    }

    /// Replaces what is found by surrogates, and writes the way back to a new file, sealed with the vault's key;
    /// returns how many values.
    ///
    /// # Errors
    /// As [`one_way`]; also a vault or file that cannot be used, and more values than one context may hold.
    pub fn reversible(
        piped: PipeEnds<'_>,
        config: &Config,
        context: &Path,
        detector: Detector,
    ) -> Result<u64, AppError> {
        let back = Back::new(config, context)?;
        if detector.reads_names() {
            return at_once(piped, Method::Encrypt, detector, Some(back));
        }
        let ahead = ScansAhead::on(piped.threads, detector.clone());
        let (redactor, counts) = super::redactor(Method::Encrypt, detector);
        let record = SurrogateLog::default();
        let live = redactor.live(&back.keys()?, Arc::clone(&counts)).with_surrogate_log(record.clone());
        let run = piped.run(live.with_scans_ahead(ahead.next.clone()), ahead);
        // Also where the output was closed early: what was read of it is to be restored.
        back.publish(&record.to_bytes())?;
        run?;
        Ok(total(&counts))
    }

    /// The same for a detector that wants whole texts: it is read to its end first.
    fn at_once(
        piped: PipeEnds<'_>,
        method: Method,
        detector: Detector,
        back: Option<Back>,
    ) -> Result<u64, AppError> {
        let keys = back.as_ref().map_or_else(|| Ok(Keys::default()), Back::keys)?;
        let (redactor, _) = super::redactor(method, detector);
        let done = redactor.text(&whole(piped.input)?, &keys, FindingLimits::default());
        let (redacted, issued) = done.map_err(|error| AppError::Redact(error.to_string()))?;
        if let Some(back) = back {
            back.publish(&issued.to_bytes())?;
        }
        piped
            .output
            .write_all(redacted.value().as_bytes())
            .and_then(|()| piped.output.flush())
            .map_err(written)?;
        Ok(redacted.report().count() as u64)
    }

    /// The way back that is to be written.
    struct Back {
        draft: NewFile,
        vault: Vault,
        opened: OpenStore,
    }

    impl Back {
        /// Before a byte is read: output whose way back cannot be written would be of no use.
        fn new(config: &Config, path: &Path) -> Result<Self, AppError> {
            let draft =
                NewFile::of(path).map_err(|error| AppError::Store { path: path.to_owned(), error })?;
            let opened = OpenStore::at(config)?;
            let vault = opened.vault(config)?;
            Ok(Self { draft, vault, opened })
        }

        fn keys(&self) -> Result<Keys, AppError> {
            let key = self.opened.io.block_on(self.vault.default_fpe_key())?;
            Ok(Keys { fpe: Some(key), tenant: TENANT.into(), ..Keys::default() })
        }

        fn publish(self, context: &Secret<Vec<u8>>) -> Result<(), AppError> {
            let sealed = self.vault.seal_context(TENANT, context.expose())?;
            self.draft.publish(&sealed).map_err(|error| AppError::Io(error.to_string()))
        }
    }
}

/// Puts back what [`redact::reversible`] replaced.
///
/// # Errors
/// A context that is not there, or of another vault; input and output.
pub fn unredact(piped: PipeEnds<'_>, config: &Config, context: &Path) -> Result<(), AppError> {
    let io = |error: std::io::Error| AppError::Store {
        path: context.to_owned(),
        error: StoreError::io(context, &error),
    };
    let file = std::fs::File::open(context).map_err(io)?;
    let mut sealed = Vec::new();
    file.take(MAX_CONTEXT).read_to_end(&mut sealed).map_err(io)?;
    let opened = OpenStore::existing(config)?;
    let vault = opened.vault(config)?;
    let not_ours = || AppError::Redact(format!("{}: not a context of this vault", context.display()));
    let plain = vault.open_context(TENANT, sealed).map_err(|_| not_ours())?;
    if let Some(undo) = SurrogateMap::from_bytes(plain.expose()) {
        return piped.run(AnswerEditor::restore(Arc::new(undo)), ScansAhead::none());
    }
    // What came of a document is looked for in all of it.
    let context = FpeContext::from_bytes(plain.expose()).ok_or_else(not_ours)?;
    let key = match ItemId::parse(&context.key.id) {
        _ if context.key == KeyName::default() => opened.io.block_on(vault.default_fpe_key())?,
        Some(id) => {
            let items = Items::new(Arc::new(vault));
            opened.io.block_on(items.fpe_key(&id, Some(context.key.version)))?.0
        }
        None => return Err(not_ours()),
    };
    let restorer = context.restorer(key);
    let text = whole(piped.input)?;
    let restored = restorer.document(text.as_bytes()).or_else(|error| match error {
        RedactError::Json(_) => restorer.text(&text).map(String::into_bytes),
        error => Err(error),
    });
    let restored = restored.map_err(|error| AppError::Redact(error.to_string()))?;
    piped.output.write_all(&restored).and_then(|()| piped.output.flush()).map_err(written)
}

/// All of the input, which is text.
fn whole(input: Box<dyn Read + Send>) -> Result<String, AppError> {
    let mut text = String::new();
    let read = input.take(MAX_DOCUMENT + 1).read_to_string(&mut text);
    read.map_err(|error| AppError::Io(format!("reading: {error}")))?;
    if text.len() as u64 > MAX_DOCUMENT {
        return Err(AppError::Io(format!("a document may have {MAX_DOCUMENT} bytes")));
    }
    Ok(text)
}
