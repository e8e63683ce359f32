//! Tables and markup: what changes, how it is spelled, what stays, and that it comes back, whole and as it passes.

use std::sync::Arc;

use TextFormat::{Csv, Html, Tsv, Xml};

use super::*;
use crate::base::budget::MemoryBudget;
use crate::redact::fixture::{keys, passed, redactor};
use crate::redact::{AnswerTreatment, Content, Method, RedactionCounts, Redactor};
use crate::stream::formatted::FormattedBody;

fn whole(redactor: &Redactor, format: TextFormat, body: &str) -> String {
    let content = Content::Formatted(format);
    let done = redactor.content(body.as_bytes(), &content, &keys(), FindingLimits::default()).unwrap();
    String::from_utf8(done.0.into_value()).unwrap()
}

/// As it passes.
fn streamed(redactor: &Redactor, format: TextFormat, body: &str) -> String {
    let counts = Arc::new(RedactionCounts::new(redactor.detector.rule_count()));
    let answer = redactor.answer(AnswerTreatment::Mask { keys: keys(), counts });
    passed(&mut FormattedBody::new(format, answer, &MemoryBudget::unlimited()), body)
}

/// What stands for a value here is markup in every format.
const ODD: &str = "<'\",;&>";

/// Formats, bodies, and what is made of them where `#` stands for [`ODD`] as the format spells it there.
const ROWS: &[(TextFormat, &str, &str)] = &[
    (Csv, "ssn,name\r\n536228726,x y\r\n", "ssn,name\r\n\"<'\"\",;&>\",x y\r\n"),
    (
        Csv,
        "id;password\n1;\"hunter2!\"\n2;tr0ub4dor&3\n",
        "id;password\n1;\"<'\"\",;&>\"\n2;\"<'\"\",;&>\"\n",
    ),
    (Csv, "# 2026-11-27\nid,password\n1,hunter2!", "# 2026-11-27\nid,password\n1,\"<'\"\",;&>\""),
    (
        Csv,
        "\"Report: all\",,\n\nid,a,password\n1,b,hunter2!",
        "\"Report: all\",,\n\nid,a,password\n1,b,\"<'\"\",;&>\"",
    ),
    (Csv, "password,,\nhunter2!,a,b\nzebra!9,c,d", "password,,\n\"<'\"\",;&>\",a,b\n\"<'\"\",;&>\",c,d"),
    (Csv, "sep=;\npassword;a\nhunter2!;b", "sep=;\npassword;a\n\"<'\"\",;&>\";b"),
    (
        Csv,
        "\u{feff}\"password\",\"a \"\"b\"\"\"\n\"hunter2!\",\" c\"",
        "\u{feff}\"password\",\"a \"\"b\"\"\"\n\"<'\"\",;&>\",\" c\"",
    ),
    (
        Csv,
        "field,value\npassword,hunter2!\ncolour,green\n",
        "field,value\npassword,\"<'\"\",;&>\"\ncolour,green\n",
    ),
    (Csv, "note\n\"to jane.doe@harbour-post.com, now\"\n", "note\n\"to <'\"\",;&>, now\"\n"),
    (Csv, "note\nto jane.doe@harbour-post.com now\n", "note\n\"to <'\"\",;&> now\"\n"),
    (Csv, "facebook 9081726354907162|aB3dE5gH7jK9mN1pQ3sT5vW7yZ9\n", "\"facebook <'\"\",;&>\"\n"),
    (Tsv, "id\tssn\n7\t536228726\n", "id\tssn\n7\t\"<'\"\",;&>\"\n"),
    (
        Xml,
        "<a><password>hunter2!</password><n>x</n></a>",
        "<a><password>&lt;'\",;&amp;&gt;</password><n>x</n></a>",
    ),
    (Xml, "<f name=\"ssn\">536228726</f>", "<f name=\"ssn\">&lt;'\",;&amp;&gt;</f>"),
    (
        Xml,
        "<add key='DbPassword' value='hunter2!'/>",
        "<add key='DbPassword' value='&lt;&#39;\",;&amp;&gt;'/>",
    ),
    (Xml, "<u password=\"hunter2!\" n=\"x\"/>", "<u password=\"&lt;'&quot;,;&amp;&gt;\" n=\"x\"/>"),
    (Xml, "<password><![CDATA[hunter2!]]></password>", "<password><![CDATA[<'\",;&>]]></password>"),
    (Xml, "<to>jane.doe&#64;harbour-post.com &amp; co</to>", "<to>&lt;'\",;&amp;&gt; &amp; co</to>"),
    (Xml, "<!-- jane.doe@harbour-post.com --><a/>", "<!-- &lt;'\",;&amp;&gt; --><a/>"),
    (Xml, "<t>4012 8888 <b>8888</b> 1881</t>", "<t>&lt;'\",;&amp;&gt;<b></b></t>"),
    (Xml, "a < b and jane.doe@harbour-post.com <", "a < b and &lt;'\",;&amp;&gt; <"),
    (Xml, "mail <jane.doe@harbour-post.com>", "mail <&lt;'\",;&amp;&gt;>"),
    (
        Html,
        "<p>4012 8888<br>x <i title='jane.doe@harbour-post.com'>y</i>",
        "<p>4012 8888<br>x <i title='&lt;&#39;\",;&amp;&gt;'>y</i>",
    ),
    (Html, "<input name=password value=hunter2!>", "<input name=password value=&lt;&#39;&quot;,;&amp;&gt;>"),
    (
        Html,
        "<table><tr><th>Name<th>Password<tr><td>x<td>hunter2!</table>",
        "<table><tr><th>Name<th>Password<tr><td>x<td>&lt;'\",;&amp;&gt;</table>",
    ),
    (Html, "<label>Password</label><b>hunter2!</b>", "<label>Password</label><b>&lt;'\",;&amp;&gt;</b>"),
    (
        Html,
        "<script>let a = 'jane.doe@harbour-post.com' < 1;</script>x",
        "<script>let a = '<'\",;&>' < 1;</script>x",
    ),
    (
        Html,
        "<a href=\"mailto:jane.doe@harbour-post.com\">x</a>",
        "<a href=\"mailto:&lt;'&quot;,;&amp;&gt;\">x</a>",
    ),
];

#[test]
fn names_are_context_and_what_is_written_is_spelled_as_it_must_be() {
    let redactor = redactor(Method::Text(ODD.into()));
    let mut wrong = Vec::new();
    for (format, body, expected) in ROWS {
        for made in [whole(&redactor, *format, body), streamed(&redactor, *format, body)] {
            if made != *expected {
                wrong.push(format!("{format:?} {body:?}: {made}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_says_nothing_stays() {
    let redactor = redactor(Method::Text(ODD.into()));
    let rows = [
        (Csv, "order,status\n536228726,hunter2!\n"),
        (Csv, ""),
        (Csv, "\n\n,,\n\"\n"),
        (Xml, "<order><id>536228726</id></order>"),
        (Xml, "<row><a>4012</a><b>8888</b><i>8888</i><u>1881</u></row>"),
        (Html, "<ul><li>Password<li>Forgot?</ul><div id=password-form>Welcome back</div>"),
        (Html, "<nav><a href=?p=1>4012</a><a href=?p=2>8888</a></nav>"),
        (Html, "<P CLASS=x>M\u{fc}ller &amp; S&ouml;hne &nbsp;</p>< <!x <?y"),
    ];
    let made = rows.map(|(format, body)| [whole(&redactor, format, body), streamed(&redactor, format, body)]);
    assert_eq!(made, rows.map(|(_, body)| [body.to_owned(), body.to_owned()]));
}

#[test]
fn what_was_encrypted_comes_back() {
    let redactor = redactor(Method::Encrypt);
    // References that spell a value without need come back as the value.
    let mut wrong = Vec::new();
    for (format, body, _) in ROWS.iter().filter(|(_, body, _)| !body.contains("&#")) {
        let content = Content::Formatted(*format);
        let done = redactor.content(body.as_bytes(), &content, &keys(), FindingLimits::default()).unwrap();
        let (redacted, undo) = done;
        let sent = String::from_utf8(redacted.into_value()).unwrap();
        let answer = redactor.answer(AnswerTreatment::Restore(Arc::new(undo)));
        let mut answer = FormattedBody::new(*format, answer, &MemoryBudget::unlimited());
        let back = passed(&mut answer, &sent);
        if back != *body || sent == *body {
            wrong.push(format!("{format:?} {body:?}: {sent} → {back}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_has_no_end_is_text() {
    let redactor = redactor(Method::Text("#".into()));
    let long = "x".repeat(2 << 20);
    let rows = [
        (Csv, format!("a\n\"{long} jane.doe@harbour-post.com")),
        (Xml, format!("<a b=\"{long} jane.doe@harbour-post.com\"/> jane.doe@harbour-post.com")),
        (Html, format!("<!-- {long} jane.doe@harbour-post.com")),
        (Html, "<p title=\"jane.doe@harbour-post.com <b>jane.doe@harbour-post.com".to_owned()),
    ];
    for (format, body) in rows {
        let expected = body.replace("jane.doe@harbour-post.com", "#");
        assert!(whole(&redactor, format, &body) == expected, "{format:?}");
        assert!(streamed(&redactor, format, &body) == expected, "{format:?}");
    }
}
