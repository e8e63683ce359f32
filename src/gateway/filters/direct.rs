//! Requests that open a way to the provider past us: what is said there nobody scans.

use http::Method;

use crate::gateway::exchange::Exchange;

/// How the paths begin to end of such requests: Realtime over WebRTC and SIP, and keys with which clients call the provider
/// themselves (OpenAI API reference, "Realtime", "ChatKit"; Azure OpenAI, "GPT Realtime API via WebRTC"; Gemini API, "Ephemeral tokens").
const PATHS: [&str; 11] = [
    "/chatkit/sessions",
    "/realtime/calls",
    "/realtime/client_secrets",
    "/realtime/sessions",
    "/realtime/transcription_sessions",
    "/realtime/translations/calls",
    "/realtime/translations/client_secrets",
    "/realtimeapi/sessions",
    "/realtimertc",
    "/auth_tokens",
    "/authtokens",
];

/// Where a session description may be posted, as it was before there were calls.
const OFFERED_TO: &str = "/realtime";

/// How such paths begin of sessions that a WebSocket may be opened on, too: a call is offered, referred or taken there (OpenAI
/// API reference, "Live").
const LIVE: &str = "/live";

/// Whether a request opens a way to the provider past us.
pub(super) fn leads_around(x: &Exchange) -> bool {
    let (method, path) = (&x.head().method, x.asked_path());
    // Some servers read an encoded separator as one.
    is_direct(method, path.compared())
        || path.readings().iter().any(|read| is_direct(method, read.compared()))
}

fn is_direct(method: &Method, path: &str) -> bool {
    let path = path.trim_end_matches('/').to_ascii_lowercase();
    let holds = |direct: &str| {
        path.match_indices(direct).any(|(at, _)| {
            let rest = path.get(at + direct.len()..).unwrap_or_default();
            rest.is_empty() || rest.starts_with(['/', ':'])
        })
    };
    let text = || ["/content", "/hangup", "/reject"].iter().any(|end| path.ends_with(end));
    let offered = *method == Method::POST && (path.ends_with(OFFERED_TO) || holds(LIVE) && !text());
    offered || PATHS.iter().any(|direct| holds(direct))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_around_is_known_by_its_path() {
        let rows = [
            ("POST", "/v1/realtime/client_secrets", true),
            ("POST", "/v1/realtime/calls", true),
            ("POST", "/v1/realtime/calls/rtc_1/accept", true),
            ("POST", "/openai/v1/realtime/client_secrets/", true),
            ("POST", "/v1/realtime/translations/client_secrets", true),
            ("POST", "/v1/Realtime/Sessions", true),
            ("POST", "/openai/realtimeapi/sessions", true),
            ("POST", "/v1/realtimertc", true),
            ("POST", "/v1alpha/auth_tokens", true),
            ("POST", "/v1alpha/authTokens:create", true),
            ("POST", "/v1/chatkit/sessions", true),
            ("POST", "/v1/chatkit/sessions/cksess_1/cancel", true),
            ("GET", "/v1/chatkit/threads", false),
            ("POST", "/v1/realtime", true),
            ("GET", "/v1/realtime", false),
            ("GET", "/v1/realtime/translations", false),
            ("POST", "/v1/realtime/callsigns", false),
            ("POST", "/v1/live", true),
            ("POST", "/v1/live/sessions/ls_1/refer", true),
            ("POST", "/v1/live/sessions/ls_1/accept", true),
            ("GET", "/v1/live/sessions", false),
            ("POST", "/v1/live/sessions/ls_1/content", false),
            ("POST", "/v1/livestock", false),
            ("POST", "/v1/responses", false),
        ];
        for (method, path, want) in rows {
            assert_eq!(is_direct(&method.parse().unwrap(), path), want, "{method} {path}");
        }
    }
}
