//! Links to shared files, and the operator's program that takes mails with them.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Method;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::api::envelope::DialectChoice;
use crate::api::share::Shares;
use crate::api::share::link::{
    CreateLinks, DeleteLinks, GetLink, LINK_PATH, LinkAddresses, LinkParts, LinkPort, Links, ListLinks, Mail,
    MailError, Mailer, SendLinks,
};
use crate::api::token::Service;
use crate::api::{EndpointAccess, Endpoints, Mount};
use crate::app::services::Services;
use crate::config::Config;
use crate::config::settings;

/// How long the program may take for one mail.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The largest body of a call about links.
const BODY: usize = 1 << 20;

/// What links lead to, and how.
pub(super) struct LinkMounts<'a> {
    pub(super) shares: Shares,
    /// The address under which callers reach us.
    pub(super) public: &'a str,
    /// The most bytes of a form with a file.
    pub(super) form: usize,
    pub(super) dialect: DialectChoice,
}

/// Adds links to shared files.
pub(super) fn add(endpoints: &mut Endpoints, config: &Config, parts: &Services, mounts: LinkMounts<'_>) {
    let LinkMounts { shares, public, form, dialect } = mounts;
    let (records, clock) = (Arc::clone(&parts.opened.records), Arc::clone(&parts.opened.clock));
    let links = LinkParts {
        links: Links::new(records, Arc::clone(&clock)),
        shares,
        addresses: Arc::new(LinkAddresses::new(&parts.grant_root, public)),
        tokens: Arc::clone(&parts.opened.tokens),
        cpu: parts.cpu.clone(),
        rates: Arc::clone(&parts.link_rates),
        clock,
        limit: u64::try_from(config.limits.file.bytes()).unwrap_or(u64::MAX),
    };
    let mailer = config.share.mail.clone().map(|mail| Arc::new(Program(mail)) as Arc<dyn Mailer>);
    endpoints.add(CreateLinks(links.clone()), dialect, BODY);
    endpoints.add(GetLink(links.clone()), dialect, BODY);
    endpoints.add(ListLinks(links.clone()), dialect, BODY);
    endpoints.add(DeleteLinks(links.clone()), dialect, BODY);
    endpoints.add(SendLinks { parts: links.clone(), mailer }, dialect, BODY);
    let port = Arc::new(LinkPort(links));
    for method in [Method::GET, Method::HEAD, Method::POST] {
        let mount = Mount {
            method,
            service: Service::Share,
            path: LINK_PATH,
            below: true,
            bare: false,
            guard: EndpointAccess::Open,
            limit: form,
        };
        endpoints.mount(mount, port.clone());
    }
}

/// A program that gets each mail at its standard input. It is run without a shell; what it writes goes nowhere, since it
/// may say again what it was given.
struct Program(settings::Mail);

impl Program {
    async fn run(&self, message: &[u8]) -> Result<(), &'static str> {
        let (program, args) = self.0.command.split_first().ok_or("it is not named")?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|_| "it cannot be started")?;
        let done = async {
            let mut input = child.stdin.take().ok_or("it takes no input")?;
            // One that ends before it has read everything says by its status whether that was right.
            let written = input.write_all(message).await;
            drop(input);
            let status = child.wait().await.map_err(|_| "its end was not seen")?;
            if status.success() && written.is_ok() { Ok(()) } else { Err("it failed") }
        };
        tokio::time::timeout(TIMEOUT, done).await.unwrap_or(Err("it took too long and was killed"))
    }
}

impl Mailer for Program {
    fn send(&self, mail: Mail) -> BoxFuture<'_, Result<(), MailError>> {
        Box::pin(async move {
            let message = mail.message(&self.0.from);
            self.run(&message).await.map_err(|why| {
                tracing::warn!(target: "portcullis::share", why, "the program of [share.mail] did not take a mail");
                MailError
            })
        })
    }
}
