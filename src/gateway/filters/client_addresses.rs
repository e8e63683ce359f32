//! Who may call by address: before a token of theirs is tried, and before a browser is told anything.

use std::net::IpAddr;

use async_trait::async_trait;

use crate::base::address::CidrBlock;
use crate::gateway::error::GatewayError;
use crate::gateway::exchange::Exchange;
use crate::gateway::filter::{Filter, Flow, Stage};
use crate::gateway::plan::RequestPlan;

/// Lets only callers in from some addresses.
pub struct ClientAddressFilter {
    /// `None`: from all.
    allow: Option<Vec<CidrBlock>>,
    deny: Vec<CidrBlock>,
}

impl ClientAddressFilter {
    /// Lets in whoever is in a block of `allow` (`None`: whoever it is) and in none of `deny`.
    pub fn new(allow: Option<Vec<CidrBlock>>, deny: Vec<CidrBlock>) -> Self {
        Self { allow, deny }
    }

    /// Whether a caller may come in. Of one without an address nobody could say that it is none of those who may not.
    fn admits(&self, client: Option<IpAddr>) -> bool {
        let Some(address) = client.map(|address| address.to_canonical()) else { return false };
        let within = |blocks: &[CidrBlock]| blocks.iter().any(|block| block.holds(address));
        !within(&self.deny) && self.allow.as_deref().is_none_or(within)
    }
}

#[async_trait]
impl Filter for ClientAddressFilter {
    fn name(&self) -> &'static str {
        "allow_clients"
    }

    fn stage(&self) -> Stage {
        Stage::Admit
    }

    async fn request(&self, x: &mut Exchange, _: &mut RequestPlan) -> Result<Flow, GatewayError> {
        if self.admits(x.client) { Ok(Flow::Next) } else { Err(GatewayError::ForbiddenAddress) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_come_in_is_told_by_address() {
        let inside: &'static [&'static str] = &["10.0.0.0/8", "2001:db8::/32", "192.0.2.7"];
        type Row = (Option<&'static [&'static str]>, &'static [&'static str], &'static str, bool);
        let rows: [Row; 17] = [
            (Some(inside), &[], "10.200.0.1", true),
            (Some(inside), &[], "11.0.0.1", false),
            (Some(inside), &[], "192.0.2.7", true),
            (Some(inside), &[], "192.0.2.8", false),
            (Some(inside), &[], "::ffff:10.0.0.1", true),
            (Some(inside), &[], "::ffff:11.0.0.1", false),
            (Some(inside), &[], "::10.0.0.1", false),
            (Some(inside), &[], "2001:db8:ffff::1", true),
            (Some(inside), &[], "2001:db9::1", false),
            (Some(inside), &[], "", false),
            (Some(inside), &["10.6.0.0/16"], "10.6.0.1", false),
            (Some(inside), &["10.6.0.0/16"], "::ffff:10.6.0.1", false),
            (Some(inside), &["10.6.0.0/16"], "10.7.0.1", true),
            (None, &["10.6.0.0/16"], "10.6.0.1", false),
            (None, &["10.6.0.0/16"], "203.0.113.1", true),
            (None, &["10.6.0.0/16"], "::1", true),
            (None, &["10.6.0.0/16"], "", false),
        ];
        for (allow, deny, client, admitted) in rows {
            let blocks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
            let filter = ClientAddressFilter::new(allow.map(blocks), blocks(deny));
            assert_eq!(filter.admits(client.parse().ok()), admitted, "{allow:?} {deny:?} {client}");
        }
    }
}
