//! `POST /v1/share/link/send`: links by mail, and [`Mail`], what is sent. Source: the vendor's OpenAPI schema. The mail comes
//! from the operator's own address: whoever may make links does not get to write in others' names.

use std::time::Duration;

use data_encoding::BASE64;
use futures_util::future::BoxFuture;

use crate::api::Caller;
use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::share::link::create::LinkResponse;
use crate::api::share::link::object::{LastSent, Link, ShownLink};
use crate::api::share::link::parts::LinkParts;
use crate::api::share::request;
use crate::api::token::Service;
use crate::base::id::ShareLinkId;
use crate::base::pointer::Pointer;
use crate::base::rate::Rate;

/// The most links of one call.
const MOST: usize = 100;

/// How many mails one token may send.
const MAILS: Rate = Rate { times: 100, per: Duration::from_secs(3600) };

/// The longest address (RFC 5321 section 4.5.3.1.3), and the longest name of a sender, in characters.
const ADDRESS: usize = 254;
const NAME: usize = 128;

/// The longest line of a mail in base64 (RFC 2045 section 6.8), and the most bytes of text in one encoded word, of which a
/// line has one (RFC 2047 section 2).
const LINE: usize = 76;
const WORD: usize = 42;

/// The mail was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the mail was not taken")]
pub struct MailError;

/// Takes mails and sees to their delivery.
pub trait Mailer: Send + Sync + 'static {
    /// Takes one, or says that it does not.
    fn send(&self, mail: Mail) -> BoxFuture<'_, Result<(), MailError>>;
}

/// A mail in plain text. Its debug form shows nothing of it.
pub struct Mail {
    /// To whom.
    to: String,
    reply_to: String,
    sender: String,
    subject: String,
    text: String,
}

impl Mail {
    fn of(link: &Link, sent: &LastSent, url: &str) -> Self {
        let terms = link.terms();
        let sender = sent.sender_name.as_deref().unwrap_or(&sent.sender_email);
        let message = terms.message.as_ref().map(|message| format!("{message}\n\n")).unwrap_or_default();
        let until = link.expires().iso8601();
        Self {
            to: sent.recipient_email.clone(),
            reply_to: sent.sender_email.clone(),
            subject: terms.title.clone().unwrap_or_else(|| format!("{sender} shares files with you")),
            text: format!(
                "{sender} shares files with you:\n\n{message}{url}\n\nYou are asked for a password, which the \
                 sender can tell you. The link is good until {until}.\n"
            ),
            sender: sender.to_owned(),
        }
    }

    /// The mail as it is handed on (RFC 5322), from this address. Nothing in it that a caller says is a header of its own:
    /// addresses have letters, digits and a few marks, the rest is encoded.
    pub fn message(&self, from: &str) -> Vec<u8> {
        let Self { to, reply_to, sender, subject, text } = self;
        let mut lines = vec![
            format!("From: {}\n <{from}>", word(sender)),
            format!("Reply-To: <{reply_to}>"),
            format!("To: <{to}>"),
            format!("Subject: {}", word(subject)),
            "MIME-Version: 1.0".to_owned(),
            "Content-Type: text/plain; charset=utf-8".to_owned(),
            "Content-Transfer-Encoding: base64".to_owned(),
            "Auto-Submitted: auto-generated".to_owned(),
            String::new(),
        ];
        let body = BASE64.encode(text.replace('\n', "\r\n").as_bytes());
        lines.extend(body.as_bytes().chunks(LINE).map(|line| String::from_utf8_lossy(line).into_owned()));
        lines.push(String::new());
        lines.join("\n").into_bytes()
    }
}

impl std::fmt::Debug for Mail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mail(..)")
    }
}

/// Text as encoded words (RFC 2047), each on a line of its own. What would break a line once it is decoded is a blank.
fn word(text: &str) -> String {
    let (mut pieces, mut piece) = (Vec::new(), String::new());
    for c in text.chars().map(|c| if c.is_control() { ' ' } else { c }) {
        if piece.len() + c.len_utf8() > WORD {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push(c);
    }
    pieces.push(piece);
    let encoded = |piece: &String| format!("=?utf-8?B?{}?=", BASE64.encode(piece.as_bytes()));
    pieces.iter().map(encoded).collect::<Vec<_>>().join("\n ")
}

/// As the schema has it: `^[0-9a-zA-Z+._-]+@[0-9a-zA-Z.-]+$`. One that begins like an option is none.
fn is_address(text: &str) -> bool {
    let fits = |text: &str, marks: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
    };
    text.len() <= ADDRESS
        && !text.starts_with('-')
        && text.split_once('@').is_some_and(|(local, domain)| fits(local, "+._-") && fits(domain, ".-"))
}

fn address(fields: &mut ObjectFields<'_>, name: &'static str) -> String {
    let text = fields.required_text(name);
    if !text.is_empty() && !is_address(text) {
        fields.fault(Code::BadFormatEmail, fields.at(name), "must be an e-mail address");
    }
    text.to_owned()
}

/// `POST /v1/share/link/send`.
pub struct SendLinks {
    /// The links.
    pub parts: LinkParts,
    /// Who takes mails; without one, none is sent.
    pub mailer: Option<std::sync::Arc<dyn Mailer>>,
}

impl Endpoint for SendLinks {
    const PATH: &'static str = "/v1/share/link/send";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = Vec<(Option<ShareLinkId>, LastSent)>;
    type Response = LinkResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Self::Request, ApiError> {
        request::common(&mut fields);
        let sender_email = address(&mut fields, "sender_email");
        let sender_name = fields.text_within("sender_name", 1..=NAME).map(str::to_owned);
        fields.required("links");
        let links = fields.array("links", MOST, |value, at, faults| {
            ObjectFields::within(value, &at, faults, |fields| {
                let id = ShareLinkId::parse(fields.required_text("id"));
                let recipient_email = address(fields, "email");
                let (sender_email, sender_name) = (sender_email.clone(), sender_name.clone());
                (id, LastSent { recipient_email, sender_email, sender_name })
            })
        });
        if self.mailer.is_none() {
            let detail =
                "no mail is sent from here: the configuration names nobody who takes it (`[share.mail]`)";
            fields.fault(Code::ProviderDisabled, Pointer::root(), detail);
        }
        fields.close()?;
        Ok(links.unwrap_or_default())
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        wanted: Self::Request,
    ) -> BoxFuture<'a, Result<Success<LinkResponse>, ApiError>> {
        Box::pin(async move {
            let Self { parts: LinkParts { links, addresses, rates, clock, .. }, mailer } = self;
            let mailer = mailer.as_ref().ok_or(ApiError::Internal("mail"))?;
            let mut found = Vec::with_capacity(wanted.len());
            let mut faults = Faults::default();
            // All of them are there, or nothing is sent.
            for (n, (id, sent)) in wanted.into_iter().enumerate() {
                let link = match id {
                    Some(id) => links.get(caller.who.tenant(), &id).await.map_err(request::failed),
                    None => Err(ApiError::NotFound),
                };
                match link {
                    Ok(link) => found.push((link, sent)),
                    Err(ApiError::NotFound) => {
                        let at = Pointer::root().key("links").index(n).key("id");
                        faults.add(Code::DoesNotExist, at, "there is no such share link");
                    }
                    Err(error) => return Err(error),
                }
            }
            faults.close()?;
            let mut share_link_objects = Vec::with_capacity(found.len());
            for (link, sent) in found {
                let caller: Caller = caller.who.caller();
                let taken = rates.mails.take(caller, MAILS, clock.instant());
                taken.map_err(|wait| ApiError::TooManyRequests(wait.as_secs() + 1))?;
                let mail = Mail::of(&link, &sent, &addresses.url(&link.id));
                mailer.send(mail).await.map_err(|MailError| ApiError::Provider("the mail was not taken"))?;
                // One that was deleted meanwhile was sent nonetheless.
                let noted = links.sent(&link.id, sent).await.ok().flatten();
                share_link_objects.push(ShownLink::of(noted.unwrap_or(link), addresses));
            }
            let summary = format!("Sent {} share links", share_link_objects.len());
            Ok(Success { summary, result: LinkResponse { share_link_objects } })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_caller_says_is_a_header() {
        let evil = "A\r\nBcc: x@y.z\n\n<script> \u{1f984}".repeat(9);
        let mail = Mail {
            to: "jo@example.com".to_owned(),
            reply_to: "me@example.com".to_owned(),
            sender: evil.clone(),
            subject: evil.clone(),
            text: evil.clone(),
        };
        let message = String::from_utf8(mail.message("files@example.com")).unwrap();
        let (head, body) = message.split_once("\n\n").unwrap();
        let names: Vec<&str> = head
            .lines()
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split(':').next().unwrap())
            .collect();
        let known = [
            "From",
            "Reply-To",
            "To",
            "Subject",
            "MIME-Version",
            "Content-Type",
            "Content-Transfer-Encoding",
        ];
        assert_eq!(names[..7], known);
        assert_eq!(names.len(), 8);
        assert!(
            message.is_ascii() && !message.contains('\r') && message.lines().all(|line| line.len() <= 78)
        );
        let body = BASE64.decode(body.replace('\n', "").as_bytes()).unwrap();
        assert_eq!(String::from_utf8(body).unwrap(), evil.replace('\n', "\r\n"));
        let subject = head.split("Subject: ").nth(1).unwrap().split("\nMIME").next().unwrap();
        let words = subject
            .split("\n ")
            .map(|word| word.strip_prefix("=?utf-8?B?").unwrap().strip_suffix("?=").unwrap());
        let read: Vec<u8> = words.flat_map(|word| BASE64.decode(word.as_bytes()).unwrap()).collect();
        assert_eq!(String::from_utf8(read).unwrap(), evil.replace(char::is_control, " "));
        assert_eq!(format!("{mail:?}"), "Mail(..)");
    }

    #[test]
    fn addresses_are_as_the_schema_has_them() {
        for good in ["email@pangea.cloud", "a.b+c_d-e@x-y.example", "a@b"] {
            assert!(is_address(good), "{good}");
        }
        let long = format!("{}@example.com", "a".repeat(250));
        let bad = [
            "", "a", "@b", "a@", "a@b@c", "-t@b", "a b@c", "a@b\n", "a@b,c@d", "\"a\"@b", "<a@b>",
            "\u{e9}@b", &long,
        ];
        for bad in bad {
            assert!(!is_address(bad), "{bad}");
        }
    }
}
