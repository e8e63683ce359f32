//! [`JsonDeltas`]: a stream of JSON documents, one a line (NDJSON), one behind another, or the elements of one array that
//! never seems to end.

use std::sync::Arc;

use bytes::BytesMut;

use crate::base::budget::{MemoryBudget, MemoryCharge};
use crate::gateway::llm::delta::{Deltas, DocumentOutcome, EarlierDocuments};
use crate::gateway::llm::piece_reader::EditorFactory;
use crate::gateway::llm::protocol::CompiledProtocol;
use crate::stream::{Rewriter, StreamError};

/// The largest document of a stream that is taken, in bytes.
const MAX_DOCUMENT: usize = 16 << 20;

/// More blanks than this between documents are not imitated.
const LONGEST_SEPARATOR: usize = 16;

/// Rewrites a stream of documents. What stands between them passes as it is.
pub struct JsonDeltas {
    deltas: Deltas,
    layout: Layout,
    scan: DocumentScan,
    /// The document that has begun.
    document: Vec<u8>,
    /// Whether another one may follow what has left.
    apart: bool,
    /// What stands between documents here.
    separator: Vec<u8>,
    charge: MemoryCharge,
}

/// How documents follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Nothing has come that tells.
    Unknown,
    /// Each by itself.
    Sequence,
    /// Within one array.
    Array,
    /// The array has ended.
    Ended,
}

/// How far a document is known.
#[derive(Clone, Copy, Default)]
struct DocumentScan {
    state: ScanState,
    depth: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ScanState {
    /// Between documents.
    #[default]
    Between,
    /// In one, and in no string.
    Within,
    /// In a string.
    Text,
    /// Behind a backslash there.
    Escape,
    /// In what is no document: it goes to the line's end.
    Line,
}

/// What a byte is.
#[derive(PartialEq, Eq)]
enum ByteRole {
    Between,
    Document,
    /// The document's last byte.
    Last,
    /// What ended behind the last byte.
    Behind,
}

impl DocumentScan {
    fn next(&mut self, byte: u8, array: bool) -> ByteRole {
        match (self.state, byte) {
            (ScanState::Between, b' ' | b'\t' | b'\r' | b'\n' | 0x1e) => return ByteRole::Between,
            (ScanState::Between, b',') if array => return ByteRole::Between,
            (ScanState::Between, b'{' | b'[') => (self.state, self.depth) = (ScanState::Within, 1),
            (ScanState::Between, _) => self.state = ScanState::Line,
            (ScanState::Line, b'\n') => {
                self.state = ScanState::Between;
                return ByteRole::Behind;
            }
            (ScanState::Within, b'"') => self.state = ScanState::Text,
            (ScanState::Within, b'{' | b'[') => self.depth += 1,
            (ScanState::Within, b'}' | b']') => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.state = ScanState::Between;
                    return ByteRole::Last;
                }
            }
            (ScanState::Text, b'"') => self.state = ScanState::Within,
            (ScanState::Text, b'\\') => self.state = ScanState::Escape,
            (ScanState::Escape, _) => self.state = ScanState::Text,
            _ => {}
        }
        ByteRole::Document
    }
}

impl JsonDeltas {
    /// Rewrites one stream.
    pub fn new(protocol: Arc<CompiledProtocol>, editor: EditorFactory, budget: &MemoryBudget) -> Self {
        Self {
            deltas: Deltas::new(protocol, editor, budget),
            layout: Layout::Unknown,
            scan: DocumentScan::default(),
            document: Vec::new(),
            apart: true,
            separator: Vec::new(),
            charge: budget.charge(),
        }
    }

    fn emit(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let document = std::mem::take(&mut self.document);
        let mut before = EarlierDocuments::new();
        let outcome = self.deltas.document(&document, b"", &mut before)?;
        for earlier in before {
            out.extend_from_slice(&earlier.data);
            out.extend_from_slice(self.separator());
        }
        match outcome {
            DocumentOutcome::Replace(data) | DocumentOutcome::Emptied(data) => out.extend_from_slice(&data),
            DocumentOutcome::Keep | DocumentOutcome::Wait => out.extend_from_slice(&document),
        }
        self.apart = false;
        self.separator.clear();
        Ok(())
    }

    /// What stands between an added document and the next.
    fn separator(&self) -> &[u8] {
        let known = match self.layout {
            Layout::Array => self.separator.contains(&b','),
            _ => self.separator.contains(&b'\n'),
        };
        match (known, self.layout) {
            (true, _) => &self.separator,
            (false, Layout::Array) => b",\n",
            (false, _) => b"\n",
        }
    }

    /// What channels hold leaves behind the last document.
    fn end(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let mut before = EarlierDocuments::new();
        self.deltas.end(&mut before)?;
        for earlier in before {
            if !self.apart {
                out.extend_from_slice(self.separator());
            }
            out.extend_from_slice(&earlier.data);
            self.apart = false;
            if self.layout == Layout::Sequence {
                out.extend_from_slice(b"\n");
                self.apart = true;
            }
        }
        Ok(())
    }

    /// A byte that is part of no document.
    fn between(&mut self, byte: u8, out: &mut BytesMut) {
        let apart = if self.layout == Layout::Array { byte == b',' } else { byte == b'\n' };
        self.apart |= apart;
        if self.separator.len() < LONGEST_SEPARATOR {
            self.separator.push(byte);
        }
        out.extend_from_slice(&[byte]);
    }

    fn byte(&mut self, byte: u8, out: &mut BytesMut) -> Result<(), StreamError> {
        if self.layout == Layout::Unknown && !byte.is_ascii_whitespace() {
            self.layout = if byte == b'[' { Layout::Array } else { Layout::Sequence };
            if self.layout == Layout::Array {
                out.extend_from_slice(&[byte]);
                return Ok(());
            }
        }
        if self.layout == Layout::Array && self.scan.state == ScanState::Between && byte == b']' {
            self.end(out)?;
            self.layout = Layout::Ended;
            out.extend_from_slice(&[byte]);
            return Ok(());
        }
        match self.scan.next(byte, self.layout == Layout::Array) {
            ByteRole::Between => self.between(byte, out),
            ByteRole::Document => self.document.push(byte),
            ByteRole::Last => {
                self.document.push(byte);
                self.emit(out)?;
            }
            ByteRole::Behind => {
                self.emit(out)?;
                self.between(byte, out);
            }
        }
        Ok(())
    }
}

impl Rewriter for JsonDeltas {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        for &byte in chunk {
            self.byte(byte, out)?;
            if self.document.len() > MAX_DOCUMENT {
                return Err(StreamError::TooLarge { unit: "document", limit: MAX_DOCUMENT });
            }
        }
        Ok(self.charge.set(self.document.len())?)
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        // No client would read a document that broke off.
        if self.scan.state == ScanState::Line {
            self.emit(out)?;
        }
        self.end(out)?;
        self.document.clear();
        Ok(self.charge.set(0)?)
    }

    fn held(&self) -> usize {
        self.document.len()
    }

    fn last_document(&mut self, document: &[u8], out: &mut BytesMut) -> bool {
        if self.layout == Layout::Unknown && self.deltas.is_array() {
            self.layout = Layout::Array;
            out.extend_from_slice(b"[");
        }
        if self.layout == Layout::Ended {
            return false;
        }
        let array = self.layout == Layout::Array;
        if !self.apart {
            out.extend_from_slice(if array { b",\n" } else { b"\n" });
        }
        out.extend_from_slice(document);
        out.extend_from_slice(if array { b"]\n" } else { b"\n" });
        self.layout = Layout::Ended;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::error::ErrorShape;
    use crate::gateway::llm::protocol::{
        ChannelRule, CloseRule, DeltaRule, ModelNaming, Nested, Protocol, StreamProtocol,
    };
    use crate::gateway::testing::Hide;
    use crate::stream::json::Treatment;

    /// Texts told apart by a number, which end where the event says so.
    static LINES: Protocol = Protocol {
        name: "lines",
        paths: &["/lines"],
        shape: ErrorShape::Envelope,
        request: &[],
        answer: &[],
        nested: Nested::NONE,
        stream: StreamProtocol {
            deltas: &[DeltaRule {
                at: "t",
                treatment: Treatment::Text,
                when: None,
                key: &[ChannelRule::Value("n")],
            }],
            closes: &[CloseRule { at: "done", is: Some("true"), key: &[] }],
            ..StreamProtocol::NONE
        },
        model: ModelNaming::NONE,
        usage: &[],
    };

    fn passed(body: &str, width: usize) -> String {
        let protocol = Arc::new(CompiledProtocol::new(&LINES).unwrap());
        let budget = MemoryBudget::process(1 << 20);
        let mut deltas = JsonDeltas::new(protocol, Arc::new(|| Box::new(Hide::default())), &budget);
        let mut out = BytesMut::new();
        for piece in body.as_bytes().chunks(width) {
            deltas.write(piece, &mut out).unwrap();
        }
        deltas.finish(&mut out).unwrap();
        assert_eq!(deltas.held(), 0);
        drop(deltas);
        assert_eq!(budget.used(), 0);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn texts_go_on_over_documents_however_they_follow_each_other() {
        let rows = [
            (
                "{\"t\":\"a SE\"}\n{\"t\":\"CRET\",\"done\":true}\n",
                "{\"t\":\"a \"}\n{\"t\":\"<\\\">\",\"done\":true}\n",
            ),
            (
                "{\"t\":\"SE\"}\r\n\r\n{\"done\":true}",
                "{\"t\":\"\"}\r\n\r\n{\"t\":\"SE\"}\r\n\r\n{\"done\":true}",
            ),
            ("{\"t\":\"SE\"}\n", "{\"t\":\"\"}\n{\"t\":\"SE\"}\n"),
            ("{\"t\":\"SE\"}", "{\"t\":\"\"}\n{\"t\":\"SE\"}\n"),
            ("{\"t\":\"SE\"}{\"t\":\"CRET ]}\"}", "{\"t\":\"\"}{\"t\":\"<\\\"> ]}\"}"),
            ("[{\"t\":\"SE\"},\r\n{\"t\":\"CRET\"}\n]\n", "[{\"t\":\"\"},\r\n{\"t\":\"<\\\">\"}\n]\n"),
            ("[{\"t\":\"SE\"}\n,{\"t\":\"C\"}\n]", "[{\"t\":\"\"}\n,{\"t\":\"\"}\n,\n{\"t\":\"SEC\"}]"),
            // Cut off: within a document, behind a comma, within the array.
            ("{\"t\":\"SE\"}\n{\"t\":\"CR", "{\"t\":\"\"}\n{\"t\":\"SE\"}\n"),
            ("[{\"t\":\"SE\"},", "[{\"t\":\"\"},{\"t\":\"SE\"}"),
            // What is no document is text.
            ("upstream SECRET broke\n{\"t\":\"x\"}\n", "upstream <\"> broke\n{\"t\":\"x\"}\n"),
            ("oops SECRET", "oops <\">"),
            ("", ""),
            ("[]", "[]"),
            ("{\"t\":\"\\\"}{\"}\n", "{\"t\":\"\\\"}{\"}\n"),
        ];
        for (body, want) in rows {
            for width in 1..=body.len().max(1) {
                assert_eq!(passed(body, width), want, "{body} in pieces of {width}");
            }
        }
    }
}
