//! A Pingora server of one's own with the chain around its callbacks. It chooses the peer, says who may go there and has a
//! filter of its own; what its upstream sees is redacted, what its caller reads is not.
//!
//! `cargo run --example embed -- 127.0.0.1:8081 127.0.0.1:9100 examples/embed.toml`

use std::env::args;
use std::error::Error;

use async_trait::async_trait;
use pingora::http::RequestHeader;
use pingora::prelude::*;
use portcullis::gateway::embed::Chain;

struct Mine {
    upstream: String,
}

#[async_trait]
impl ProxyHttp for Mine {
    type CTX = ();

    fn new_ctx(&self) {}

    async fn upstream_peer(&self, _: &mut Session, _: &mut ()) -> Result<Box<HttpPeer>> {
        Ok(Box::new(HttpPeer::new(self.upstream.as_str(), false, String::new())))
    }

    async fn proxy_upstream_filter(&self, session: &mut Session, _: &mut ()) -> Result<bool> {
        Ok(session.get_header("x-refused").is_none())
    }

    async fn upstream_request_filter(
        &self,
        _: &mut Session,
        head: &mut RequestHeader,
        _: &mut (),
    ) -> Result<()> {
        head.insert_header("x-mine", "my own filter was here")
    }
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let [listen, upstream, config] =
        args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "embed LISTEN UPSTREAM CONFIG")?;
    let chain = Chain::from_config(config)?;
    let mut server = Server::new(None)?;
    server.bootstrap();
    let mut service = http_proxy_service(&server.configuration, chain.guard(Mine { upstream }));
    service.add_tcp(&listen);
    server.add_service(service);
    server.run_forever()
}
