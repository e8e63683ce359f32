//! `POST /v1/share/link/create`. Source: the vendor's OpenAPI schema and its clients' `ShareLinkCreateItem`; how long a
//! link is good that does not say it, and at the most, is this project's.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;

use crate::api::cpu::CpuTask;
use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code};
use crate::api::fields::{Faults, ObjectFields};
use crate::api::share::link::object::{Link, LinkTerms, LinkType, ShownLink};
use crate::api::share::link::parts::LinkParts;
use crate::api::share::link::password::{HELD, Password};
use crate::api::share::object::ShareObjectKind;
use crate::api::share::request;
use crate::api::share::rows::ShareError;
use crate::api::token::{Principal, Service};
use crate::base::clock::Timestamp;
use crate::base::id::ShareId;
use crate::base::pointer::Pointer;
use crate::base::secret::Secret;

/// How long a link is good that does not say it, and how long one may be.
const LIFE: Duration = Duration::from_secs(30 * 24 * 3600);
const LONGEST: Duration = Duration::from_secs(366 * 24 * 3600);

/// The most links that one call makes.
const MOST_LINKS: usize = 100;

/// The most targets of all links of one call.
const MOST_TARGETS: usize = 1000;

/// The most passwords of one item; each has a link of its own.
const MOST_PASSWORDS: usize = 10;

/// How long a password is, in characters: at least what NIST SP 800-63B asks for.
const PASSWORD: std::ops::RangeInclusive<usize> = 8..=256;

/// What would prove somebody elsewhere; looked at no further.
const ANYTHING: std::ops::RangeInclusive<usize> = 0..=256;

const TITLE: std::ops::RangeInclusive<usize> = 1..=256;
const MESSAGE: std::ops::RangeInclusive<usize> = 1..=4096;

/// How somebody would prove to be who the link is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProofMethod {
    Password,
    Elsewhere,
}

const PROOFS: [(&str, ProofMethod); 4] = [
    ("password", ProofMethod::Password),
    ("email_otp", ProofMethod::Elsewhere),
    ("sms_otp", ProofMethod::Elsewhere),
    ("social", ProofMethod::Elsewhere),
];

/// Members that clients know and this service does not offer, and what to do.
const NOT_OFFERED: [(&str, &str); 3] = [
    ("tenant_id", "is not offered by this service"),
    ("notify_email", "nobody is told here that a link was followed; `last_accessed_at` says it"),
    ("send_params", "is not offered by this service; call `/v1/share/link/send`"),
];

/// What a new link is to be, for each of these passwords.
pub struct NewLinks {
    targets: Vec<ShareId>,
    terms: LinkTerms,
    passwords: Vec<Secret<String>>,
}

/// Links.
#[derive(Serialize)]
pub struct LinkResponse {
    pub(super) share_link_objects: Vec<ShownLink>,
}

/// `POST /v1/share/link/create`.
pub struct CreateLinks(pub LinkParts);

impl NewLinks {
    fn read(fields: &mut ObjectFields<'_>, now: Timestamp) -> Self {
        fields.nulls_are_absent();
        for (name, detail) in NOT_OFFERED {
            if fields.member(name).is_some() {
                fields.fault(Code::ProviderDisabled, fields.at(name), detail);
            }
        }
        fields.required("targets");
        let targets = fields.array("targets", MOST_TARGETS, |value, at, faults| {
            let id = ShareId::parse(faults.text(value, at.clone())?);
            if id.is_none() {
                faults.add(Code::DoesNotExist, at, NO_TARGET);
            }
            id
        });
        some(fields, "targets");
        fields.required("link_type");
        let link_type = fields.one_of("link_type", &LinkType::WORDS).unwrap_or(LinkType::Download);
        let passwords = Self::passwords(fields);
        let expires = fields.time("expires_at").unwrap_or(now.plus(LIFE));
        if expires <= now || expires > now.plus(LONGEST) {
            let detail = "must lie after now and within 366 days";
            fields.fault(Code::NotWithinRange, fields.at("expires_at"), detail);
        }
        let targets = targets.unwrap_or_default();
        let terms = LinkTerms {
            targets: targets.iter().map(ToString::to_string).collect(),
            link_type,
            title: fields.text_within("title", TITLE).map(str::to_owned),
            message: fields.text_within("message", MESSAGE).map(str::to_owned),
            tags: request::tags(fields, "tags").unwrap_or_default(),
            max_access_count: fields.integer("max_access_count", 1),
            expires_at: expires.as_millis(),
        };
        Self { targets, terms, passwords }
    }

    fn passwords(fields: &mut ObjectFields<'_>) -> Vec<Secret<String>> {
        fields.required("authenticators");
        let passwords = fields.array("authenticators", MOST_PASSWORDS, |value, at, faults| {
            ObjectFields::within(value, &at, faults, |fields| {
                fields.nulls_are_absent();
                fields.required("auth_type");
                let proof = fields.one_of("auth_type", &PROOFS);
                if proof == Some(ProofMethod::Elsewhere) {
                    let detail =
                        "nobody is there who sends codes or knows people by other accounts; use `password`";
                    fields.fault(Code::ProviderDisabled, fields.at("auth_type"), detail);
                }
                fields.required("auth_context");
                let length = if proof == Some(ProofMethod::Password) { PASSWORD } else { ANYTHING };
                let text = fields.text_within("auth_context", length);
                text.map(|text| Secret::new(text.to_owned()))
            })
            .flatten()
        });
        some(fields, "authenticators");
        passwords.unwrap_or_default()
    }
}

/// An array that must not be empty.
fn some(fields: &mut ObjectFields<'_>, name: &'static str) {
    if fields.members().get(name).and_then(Value::as_array).is_some_and(Vec::is_empty) {
        fields.fault(Code::BelowMinItems, fields.at(name), "must have at least 1 item");
    }
}

const NO_TARGET: &str = "there is no such file or folder";

impl CreateLinks {
    /// Whether all targets are there, and are what the link is for.
    async fn judge(&self, tenant: &str, wanted: &[NewLinks]) -> Result<(), ApiError> {
        let mut faults = Faults::default();
        for (n, link) in wanted.iter().enumerate() {
            for (m, id) in link.targets.iter().enumerate() {
                let at = Pointer::root().key("links").index(n).key("targets").index(m);
                match self.0.shares.get(tenant, id).await {
                    Ok(object)
                        if object.kind == ShareObjectKind::File
                            && link.terms.link_type == LinkType::Upload =>
                    {
                        faults.add(Code::BadState, at, "a link for uploads leads to folders");
                    }
                    Ok(_) => {}
                    Err(ShareError::Unknown) => faults.add(Code::DoesNotExist, at, NO_TARGET),
                    Err(error) => return Err(request::failed(error)),
                }
            }
        }
        faults.close()
    }

    async fn make(
        &self,
        who: &Principal,
        wanted: Vec<NewLinks>,
        made: &mut Vec<Link>,
    ) -> Result<(), ApiError> {
        for NewLinks { terms, passwords, .. } in wanted {
            for text in passwords {
                let job = CpuTask { caller: who.caller(), bytes: HELD };
                let password = self.0.cpu.run(job, move |_| Password::of(&text)).await?;
                let password = password.map_err(|_| ApiError::Internal("password"))?;
                let link = self.0.links.make(who.tenant(), who.id(), terms.clone(), password).await;
                made.push(link.map_err(request::failed)?);
            }
        }
        Ok(())
    }
}

impl Endpoint for CreateLinks {
    const PATH: &'static str = "/v1/share/link/create";
    const SERVICE: Service = Service::Share;
    const BARE: bool = false;
    type Request = Vec<NewLinks>;
    type Response = LinkResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<Vec<NewLinks>, ApiError> {
        request::common(&mut fields);
        let now = self.0.clock.now();
        fields.required("links");
        let wanted = fields.array("links", MOST_LINKS, |value, at, faults| {
            ObjectFields::within(value, &at, faults, |fields| NewLinks::read(fields, now))
        });
        let wanted = wanted.unwrap_or_default();
        let at = fields.at("links");
        if wanted.iter().map(|link| link.passwords.len()).sum::<usize>() > MOST_LINKS {
            let detail = format!("a call makes at most {MOST_LINKS} links, one for each authenticator");
            fields.fault(Code::AboveMaxItems, at.clone(), detail);
        }
        if wanted.iter().map(|link| link.targets.len()).sum::<usize>() > MOST_TARGETS {
            let detail = format!("all links of a call have at most {MOST_TARGETS} targets");
            fields.fault(Code::AboveMaxItems, at.clone(), detail);
        }
        some(&mut fields, "links");
        fields.close()?;
        Ok(wanted)
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        wanted: Vec<NewLinks>,
    ) -> BoxFuture<'a, Result<Success<LinkResponse>, ApiError>> {
        Box::pin(async move {
            self.judge(caller.who.tenant(), &wanted).await?;
            let mut made = Vec::new();
            if let Err(error) = self.make(caller.who, wanted, &mut made).await {
                // All or none; what cannot be removed now ends by itself, and nobody has its URL.
                for link in made {
                    drop(self.0.links.remove(&link.id).await);
                }
                return Err(error);
            }
            let shown = |link| ShownLink::of(link, &self.0.addresses);
            let share_link_objects: Vec<_> = made.into_iter().map(shown).collect();
            let summary = format!("Made {} share links", share_link_objects.len());
            Ok(Success { summary, result: LinkResponse { share_link_objects } })
        })
    }
}
