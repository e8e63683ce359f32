//! `POST /v1/unredact_events` (specification, group B): the same for records of an audit log, each with a context of
//! its own.

use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::api::endpoint::{ApiCaller, Endpoint, Success};
use crate::api::error::{ApiError, Code, Invalid, MAX_FAULTS};
use crate::api::fields::ObjectFields;
use crate::api::redact::request::RuleReference;
use crate::api::redact::service::Redaction;
use crate::api::redact::unredact::raw;
use crate::api::token::Service;
use crate::base::checkpoint::Checkpoint;
use crate::base::pointer::Pointer;

/// The operation.
pub struct UnredactEvents(pub Redaction);

/// What a call asks.
pub struct EventsRequest {
    records: Vec<EventRecord>,
    config: Option<RuleReference>,
}

/// A record: its members in order, as they are written.
struct EventRecord {
    members: Vec<(String, Box<RawValue>)>,
    context: Option<(String, Pointer)>,
}

/// What it is told.
#[derive(Serialize)]
pub struct EventsResponse {
    events: Vec<Box<RawValue>>,
}

impl Endpoint for UnredactEvents {
    const PATH: &'static str = "/v1/unredact_events";
    const SERVICE: Service = Service::Redact;
    const KEEPS_NOTHING: bool = true;
    const RAW: &'static [&'static str] = &["events"];
    type Request = EventsRequest;
    type Response = EventsResponse;

    fn parse(&self, mut fields: ObjectFields<'_>) -> Result<EventsRequest, ApiError> {
        let at = fields.at("events");
        let events = fields.required_raw("events");
        let config = RuleReference::config(&mut fields);
        fields.close()?;
        let fault = |code, at, detail: &str| ApiError::Validation(vec![Invalid::new(code, at, detail)]);
        if events == "null" {
            return Err(fault(Code::InvalidNull, at, "must not be null; must be an array"));
        }
        let items: Vec<&RawValue> = serde_json::from_str(events)
            .map_err(|_| fault(Code::InvalidArray, at.clone(), "must be an array of objects"))?;
        let mut records = Vec::with_capacity(items.len());
        let mut faults = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            match record(item, &at.index(index)) {
                Ok(record) => records.push(record),
                Err(fault) if faults.len() < MAX_FAULTS => faults.push(fault),
                Err(_) => {}
            }
        }
        if faults.is_empty() {
            Ok(EventsRequest { records, config })
        } else {
            Err(ApiError::Validation(faults))
        }
    }

    fn call<'a>(
        &'a self,
        caller: ApiCaller<'a>,
        request: EventsRequest,
    ) -> BoxFuture<'a, Result<Success<EventsResponse>, ApiError>> {
        Box::pin(async move {
            if let Some(named) = &request.config {
                self.0.named(caller.who, named).await?;
            }
            let mut events = Vec::with_capacity(request.records.len());
            for EventRecord { mut members, context } in request.records {
                if let Some((context, at)) = context {
                    let restorer = self.0.open(caller.who, &context, &at).await?;
                    members.retain(|(key, _)| key != "fpe_context");
                    for (_, envelope) in members.iter_mut().filter(|(key, _)| key == "envelope") {
                        // Whatever else the record says, such as its hash, is of the log and not of the caller.
                        let data = envelope.get().to_owned();
                        let restorer = restorer.clone();
                        let work = move |checkpoint: &Checkpoint| {
                            let restorer = restorer.with_checkpoint(checkpoint.clone());
                            restorer.document(data.as_bytes())
                        };
                        let restored = self.0.work(&caller, envelope.get().len(), work).await?;
                        *envelope = raw(restored)?;
                    }
                }
                events.push(raw(written(&members)?)?);
            }
            let summary = format!("Unredacted {} events", events.len());
            Ok(Success { summary, result: EventsResponse { events } })
        })
    }
}

/// An object whose members keep their order.
struct OrderedObject(Vec<(String, Box<RawValue>)>);

impl<'de> serde::Deserialize<'de> for OrderedObject {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct Ordered;
        impl<'de> serde::de::Visitor<'de> for Ordered {
            type Value = OrderedObject;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<OrderedObject, A::Error> {
                let mut members = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    members.push(entry);
                }
                Ok(OrderedObject(members))
            }
        }
        reader.deserialize_map(Ordered)
    }
}

fn record(item: &RawValue, at: &Pointer) -> Result<EventRecord, Invalid> {
    let Ok(OrderedObject(members)) = serde_json::from_str(item.get()) else {
        return Err(Invalid::new(Code::InvalidObject, at.clone(), "must be an object"));
    };
    let Some((_, envelope)) = members.iter().find(|(key, _)| key == "envelope") else {
        return Err(Invalid::new(Code::FieldRequired, at.key("envelope"), "`envelope` is required"));
    };
    if !envelope.get().starts_with('{') {
        return Err(Invalid::new(Code::InvalidObject, at.key("envelope"), "must be an object"));
    }
    let context = members.iter().find(|(key, _)| key == "fpe_context");
    let context = match context.map(|(_, context)| context.get()) {
        None | Some("null") => None,
        Some(text) => Some(
            serde_json::from_str::<String>(text)
                .map_err(|_| Invalid::new(Code::InvalidString, at.key("fpe_context"), "must be a string"))?,
        ),
    };
    Ok(EventRecord { context: context.map(|context| (context, at.key("fpe_context"))), members })
}

fn written(members: &[(String, Box<RawValue>)]) -> Result<Vec<u8>, ApiError> {
    let mut out = vec![b'{'];
    for (n, (key, value)) in members.iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut out, key).map_err(|_| ApiError::Internal("redact"))?;
        out.push(b':');
        out.extend_from_slice(value.get().as_bytes());
    }
    out.push(b'}');
    Ok(out)
}
