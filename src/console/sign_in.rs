//! The page for whoever has not signed in.

use maud::{Markup, html};

use crate::console::layout;

/// What a browser keeps in a query where somebody wanted to go.
pub(super) const NEXT: &str = "next";

/// The page, with what went wrong, if anything did.
pub(super) fn page(next: &str, wrong: Option<&str>) -> Markup {
    let content = html! {
        main.door {
            div.card {
                (layout::brand())
                div {
                    h1 { "Sign in" }
                    p.quiet { "With an API token that covers the console." }
                }
                @if let Some(wrong) = wrong { p.note.look role="alert" #wrong { (wrong) } }
                form method="post" action="/sign-in" {
                    input type="hidden" name=(NEXT) value=(next);
                    div.field {
                        label for="token" { "Token" }
                        input #token type="password" name="token" autocomplete="current-password" spellcheck="false" required
                            autofocus aria-invalid=[wrong.map(|_| "true")] aria-describedby=[wrong.map(|_| "wrong")];
                    }
                    button.first { "Sign in" }
                }
                details {
                    summary { "I have no token" }
                    p { "Where the gateway runs, make one. The first may change things, the second may look:" }
                    pre tabindex="0" { "portcullis tokens create -c portcullis.toml --name me --service admin\nportcullis tokens create -c portcullis.toml --name team --service viewer" }
                    p.quiet { "Name the file that the gateway was started with, or its data folder (--data): another one has tokens of its own." }
                }
            }
        }
    };
    layout::bare("Sign in", &content, &["sign-in.js"])
}
