//! The laws themselves.

use bytes::BytesMut;
use portcullis::base::budget::MemoryBudget;
use portcullis::stream::form::FormBody;
use portcullis::stream::formatted::{FormattedBody, TextFormat};
use portcullis::stream::json::{EditorSlots, Embedded, JsonSlots, PathSet, Treatment};
use portcullis::stream::sse::Sse;
use portcullis::stream::{Channel, Editor, GenericEvents, Rewriter, StreamError, TextBody};
use proptest::prelude::*;

use crate::censor::{Censor, Silent};

/// A [`Channel`] as a rewriter of bytes, for texts that are cut between characters only.
struct Pieces(Channel);

impl Rewriter for Pieces {
    fn write(&mut self, chunk: &[u8], out: &mut BytesMut) -> Result<(), StreamError> {
        let mut text = String::new();
        self.0.push(std::str::from_utf8(chunk).unwrap(), &mut text)?;
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn finish(&mut self, out: &mut BytesMut) -> Result<(), StreamError> {
        let mut text = String::new();
        self.0.finish(&mut text)?;
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn held(&self) -> usize {
        self.0.held()
    }
}

fn paths() -> PathSet {
    let patterns =
        [("**.arguments", Treatment::Embedded), ("**.id", Treatment::Skip), ("model", Treatment::Skip)];
    PathSet::new(&patterns, Treatment::Text).unwrap()
}

/// Makes one kind of rewriter around an editor.
pub(crate) type Make = fn(Box<dyn Editor>, &MemoryBudget) -> Box<dyn Rewriter>;

pub(crate) const REWRITERS: [(&str, Make); 12] = [
    ("text", |editor, budget| Box::new(TextBody::new(editor, budget))),
    ("channel", |editor, budget| Box::new(Pieces(Channel::new(editor, budget)))),
    ("embedded", |editor, budget| Box::new(Pieces(Channel::new(Box::new(Embedded::new(editor)), budget)))),
    ("json, all", |editor, budget| {
        let slots = EditorSlots::new(editor, PathSet::everything()).with_keys_and_numbers();
        Box::new(JsonSlots::new(slots, budget))
    }),
    ("json, chosen", |editor, budget| Box::new(JsonSlots::new(EditorSlots::new(editor, paths()), budget))),
    ("events", |editor, budget| Box::new(Sse::new(GenericEvents::new(editor), 1 << 20, budget))),
    ("form", |editor, budget| Box::new(FormBody::new(editor, budget))),
    ("csv", |editor, budget| Box::new(FormattedBody::new(TextFormat::Csv, editor, budget))),
    ("tsv", |editor, budget| Box::new(FormattedBody::new(TextFormat::Tsv, editor, budget))),
    ("xml", |editor, budget| Box::new(FormattedBody::new(TextFormat::Xml, editor, budget))),
    ("html", |editor, budget| Box::new(FormattedBody::new(TextFormat::Html, editor, budget))),
    ("embedded in text", |editor, budget| Box::new(TextBody::new(Embedded::new(editor), budget))),
];

/// Small, and with whatever a cut might break.
pub(crate) const FIXTURES: [&[u8]; 27] = [
    b"",
    b"a secret, a secre, secret",
    "caf\u{e9} \u{1F600}\u{e9} jane@x.org secret\u{e9}".as_bytes(),
    b"se\xFFcret secret \xE2\x82 \xF0\x9F\x98secret\xE2",
    br#"{"a":"secret","secret":["x secret y",4111111111111111,-7654321, 7654321 ,true]}"#,
    br#"{"a":"s\u0065cret","b":"\ud83d\ude00\u00e9 \ud83d s\u0065cre\u0074 \ude00","c":"\n\"jane\u0040x.org\\"}"#,
    br#" {"id":"secret","model":"secret","deep":{"id":"a","b":[{"id":1},"secret"]}} "#,
    br#"{"arguments":"{\"to\":\"jane\\u0040x.org\",\"secret\":7654321,\"b\":\"\\ud83d\\ude00\\u00e9\\n\"}"}"#,
    br#"{"arguments":" plain secret","x":{"arguments":"[\"secret\", nonsense secret"}}"#,
    b"{\"a\":\"secret\"}\n{\"a\":1}\n[\"secret\"]\n12345678\n7654321",
    b"\"secret\"{}\x1e[]\"a\"nulltrue",
    b"{\"a\":\"line\nbreak secret\",\"b\":\"odd \\d \\u00 secret \\",
    b"{\"a\":\"s\xFFecret secret\",\"k\xFF\":\"secret\xE2\"}",
    b"{\"a\": secret, \"b\": \"secret\"}",
    b"[7654321 secret]",
    b"tru secret \xF0\x9F",
    b"\xEF\xBB\xBF{\"a\":\"secret\"}",
    b"data: {\"a\":\"secret\",\ndata: \"n\":7654321}\n\n: ping\n\nevent: secret\r\ndata: a secret\r\rdata: [DONE]\n\n",
    b"\xEF\xBB\xBFid: 1\r\ndata:secret\r\n\r\ndata: \"jane@x.org\"\n\ndata: secr\n\ndata: rest of secret",
    br#"data: {"choices":[{"delta":{"content":"s\u0065cret"}}]}"#,
    b": secret\r\n\r\nid: 7654321 secret\revent:secret\ndata: x\nsecret: y\n\nretry: jane@x.org\n\n: secre",
    b"a=s%65cret&secret=jane%40x.org&b=+secret+&&=%ffsecret&c=%7B%22d%22:%22s\\u0065cret%22%7D&secr%65t=7654321",
    b"\xEF\xBB\xBF\"id\",secret;a\r\n\"jane@x.org, \"\"secret\"\"\",7654321,se\xFFcret\n2;secret\"x\",\n\n\"sec\nsecret\"y,\"\"\"secret\"",
    b"a\tsecret\nsecret\t\"{\"\"b\"\":\"\"secret\"\"}\"\n\"secret",
    b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b \"secret\">]><a:b k=\"se&#99;ret\" v='jane@x.org' secret><!-- secret --> s&#x65;cret <b>sec</b>ret <br/><![CDATA[secret]]>a < b &amp; secret</a:b><x y=secret",
    b"<TABLE><tr><th>secret<td title=jane@x.org>sec<b>ret <i data-x='secret'>secret</i></b><br>7654321</table><SCRIPT>if (a<b) '</s secret'</script>secret<style>secret",
    b"<p title=\"secret <b>secret</b> <? secret > </ secret <!secret> <![CDATA[secret]] \xF0\x9F\x98\x80\xC3\xA9 <!--secret",
];

/// Writes the pieces; checks law 3 on the way.
pub(crate) fn pass(make: Make, editor: Box<dyn Editor>, pieces: &[&[u8]]) -> Vec<u8> {
    let budget = MemoryBudget::process(1 << 30);
    let mut rewriter = make(editor, &budget);
    let mut out = BytesMut::new();
    for piece in pieces {
        rewriter.write(piece, &mut out).unwrap();
        assert!(budget.used() >= rewriter.held(), "held without a charge");
    }
    rewriter.finish(&mut out).unwrap();
    assert_eq!(rewriter.held(), 0);
    assert_eq!(budget.used(), 0, "the budget is not given back");
    out.to_vec()
}

/// Whether a rewriter takes these pieces: channels are fed with text only.
fn takes(name: &str, pieces: &[&[u8]]) -> bool {
    !matches!(name, "channel" | "embedded") || pieces.iter().all(|piece| std::str::from_utf8(piece).is_ok())
}

fn every(mut check: impl FnMut(&str, Make, &[u8])) {
    for (name, make) in REWRITERS {
        for fixture in FIXTURES {
            if takes(name, &[fixture]) {
                check(name, make, fixture);
            }
        }
    }
}

fn same(name: &str, make: Make, pieces: &[&[u8]], whole: &[u8]) {
    let cut = pass(make, Box::<Censor>::default(), pieces);
    let show = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let lengths: Vec<usize> = pieces.iter().map(|piece| piece.len()).collect();
    assert_eq!(show(&cut), show(whole), "{name} on {} cut in {lengths:?}", show(&pieces.concat()));
}

#[test]
fn chunking_is_invisible_in_every_cut_in_two() {
    every(|name, make, fixture| {
        let whole = pass(make, Box::<Censor>::default(), &[fixture]);
        for at in 0..=fixture.len() {
            let (head, tail) = fixture.split_at(at);
            if takes(name, &[head, tail]) {
                same(name, make, &[head, tail], &whole);
            }
        }
    });
}

#[test]
fn chunking_is_invisible_byte_by_byte() {
    every(|name, make, fixture| {
        let pieces: Vec<&[u8]> = fixture.chunks(1).collect();
        if takes(name, &pieces) {
            same(name, make, &pieces, &pass(make, Box::<Censor>::default(), &[fixture]));
        }
    });
}

#[test]
fn silence_is_identity() {
    every(|name, make, fixture| {
        for step in [1, 2, 3, 5, 1000] {
            let pieces: Vec<&[u8]> = fixture.chunks(step).collect();
            if takes(name, &pieces) {
                let out = pass(make, Box::<Silent>::default(), &pieces);
                assert_eq!(out.escape_ascii().to_string(), fixture.escape_ascii().to_string(), "{name}");
            }
        }
    });
}

/// Cuts `bytes` at the given places, wherever those fall.
pub(crate) fn cut<'a>(bytes: &'a [u8], at: &[prop::sample::Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = at.iter().map(|index| index.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// Bytes made of what matters to the readers, mostly malformed in some way.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let parts: Vec<&[u8]> = vec![
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b",",
        b"\"",
        b"\"",
        b"\\",
        b"\\u00",
        b"e9",
        b"\\ud83d",
        b"\\ude00",
        b"\\n",
        b" ",
        b"\n",
        b"\r",
        b"true",
        b"-7654321",
        b"4111111111111111",
        b".5",
        b"e1",
        b"secret",
        b"secr",
        b"\\u0065",
        b"jane@x.org",
        b"\xFF",
        b"\xE2\x82",
        b"\xAC",
        "\u{1F600}".as_bytes(),
        b"data:",
        b"data: ",
        b"\n\n",
        b": c",
        b"%65",
        b"&",
        b"=",
        b": secret",
        b"\"a\":",
        b"\"arguments\":\"",
        b"id",
        b"\x1E",
        b"\xEF\xBB\xBF",
        b"\x01",
    ];
    prop::collection::vec(prop::sample::select(parts), 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn chunking_is_invisible_in_random_cuts_of_random_bytes(
        bytes in soup(),
        at in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let pieces = cut(&bytes, &at);
        for (name, make) in REWRITERS {
            if takes(name, &pieces) {
                same(name, make, &pieces, &pass(make, Box::<Censor>::default(), &[&bytes]));
                let silent = pass(make, Box::<Silent>::default(), &pieces);
                prop_assert_eq!(silent.escape_ascii().to_string(), bytes.escape_ascii().to_string(), "{}", name);
            }
        }
    }
}

#[test]
fn long_strings_are_not_held() {
    let filler = "nothing to see here, and a \\n and a \\u00e9 ".repeat(500);
    let document =
        format!("{{\"a\":\"{filler}\",\"arguments\":\"{{\\\"b\\\":\\\"{}\"}}", filler.replace('\\', "\\\\"));
    for (name, make) in [REWRITERS[3], REWRITERS[4]] {
        let budget = MemoryBudget::process(4096);
        let mut rewriter = make(Box::<Censor>::default(), &budget);
        let mut out = BytesMut::new();
        for piece in document.as_bytes().chunks(100) {
            rewriter.write(piece, &mut out).unwrap();
            // A word, and the escapes that may spell it.
            assert!(rewriter.held() <= 64, "{name} holds {}", rewriter.held());
        }
        rewriter.finish(&mut out).unwrap();
        assert_eq!(&out[..], document.as_bytes(), "{name}");
    }
}

#[test]
fn a_body_of_brackets_is_refused_by_the_budget_and_not_by_the_allocator() {
    let budget = MemoryBudget::process(1 << 10);
    let mut rewriter = REWRITERS[3].1(Box::<Censor>::default(), &budget);
    let mut out = BytesMut::new();
    let refused = (0..100).find_map(|_| rewriter.write(&[b'['; 1000], &mut out).err());
    assert!(matches!(refused, Some(StreamError::Exhausted(_))));
}
