//! Halves of what has a sign in its middle.

use super::tests::{at_any_cut, undo_of};
use crate::detect::Format;
use crate::edit::spliced_text;
use crate::redact::AnswerEditor;
use crate::stream::Editor;
use crate::stream::json::Embedded;

/// What opens a service, of which a model writes one half, and addresses of mail.
#[test]
fn halves_of_credentials_and_addresses_come_back() {
    let undo = undo_of(&[
        ("njz:Zb4jIp5qJ8", "app:Wq7mLp2xZ9", Format::Text),
        ("tqiw@9xv1-kkq.com", "jane@acme-mail.com", Format::Email),
        ("k7wbq.uv@9xv1-kkq.com", "j.carter@acme-mail.com", Format::Email),
        ("fqtcdgu_vsp:Hk3nZ6t-Fs0xU5et", "billing_app:Zk7vQ2m-Lw9xT4pr", Format::Text),
        ("qzkrwfx4711:Rt8kW2p-Qm5vB3xn", "billing4711:Lp4wX9c-Vb2nM7qz", Format::Text),
        ("kqzvtwxlm.wjtrqkhwzxpq:Gn5rT8y-Kd3fW6ub", "magdalena.wojciechowska:Yh2jQ7s-Pf9cD4ma", Format::Text),
    ]);
    for (text, expected) in [
        ("DB_USER=njz\nDB_PASSWORD=Zb4jIp5qJ8", "DB_USER=app\nDB_PASSWORD=Wq7mLp2xZ9"),
        (
            "\"user\": \"njz\", \"password\": \"Zb4jIp5qJ8\"",
            "\"user\": \"app\", \"password\": \"Wq7mLp2xZ9\"",
        ),
        ("postgres://njz:Zb4jIp5qJ8@db/x", "postgres://app:Wq7mLp2xZ9@db/x"),
        ("mysql -unjz -pZb4jIp5qJ8 x", "mysql -uapp -pWq7mLp2xZ9 x"),
        ("sshpass -pZb4jIp5qJ8 ssh", "sshpass -pWq7mLp2xZ9 ssh"),
        // The true domain behind a piece of the mailbox would be the address of somebody else.
        ("wbq.uv@9xv1-kkq.com", "wbq.uv@acme-mail.com"),
        ("tqiw+news@9xv1-kkq.com, tqi@9xv1-kkq.com", "tqiw+news@9xv1-kkq.com, tqi@9xv1-kkq.com"),
        ("sales@9xv1-kkq.com", "sales@acme-mail.com"),
        ("SPF for 9xv1-kkq.com and *@9xv1-kkq.com", "SPF for acme-mail.com and *@acme-mail.com"),
        ("useradd k7wbq.uv", "useradd j.carter"),
        ("psql -U njz and {\"username\": \"njz\"}", "psql -U app and {\"username\": \"app\"}"),
        (
            "DB_USER=fqtcdgu_vsp\nDB_PASSWORD=Hk3nZ6t-Fs0xU5et",
            "DB_USER=billing_app\nDB_PASSWORD=Zk7vQ2m-Lw9xT4pr",
        ),
        ("mysql --user=qzkrwfx4711 -p x", "mysql --user=billing4711 -p x"),
        ("psql -U kqzvtwxlm.wjtrqkhwzxpq -h db", "psql -U magdalena.wojciechowska -h db"),
        ("{\"user\": \"fqtcdgu_vsp\"}", "{\"user\": \"billing_app\"}"),
        ("user fqtcdgu_vspx, fqtcdgu_vsp_id", "user fqtcdgu_vspx, fqtcdgu_vsp_id"),
        (
            "GRANT ALL TO fqtcdgu_vsp; WHERE x = 'fqtcdgu_vsp'",
            "GRANT ALL TO billing_app; WHERE x = 'billing_app'",
        ),
        ("my_fqtcdgu_vsp my-fqtcdgu_vsp", "my_fqtcdgu_vsp my-fqtcdgu_vsp"),
        // Any word may be spelled so.
        ("two njz bugs, NJZ_ID, njz.py", "two njz bugs, NJZ_ID, njz.py"),
        // A mailbox that is short may be any word.
        ("tqiw is no name", "tqiw is no name"),
        ("xnjz njzx Zb4jIp5qJ8x", "xnjz njzx Zb4jIp5qJ8x"),
    ] {
        assert_eq!(at_any_cut(&undo, text), expected);
    }
}

/// The names of members say what words before a value do.
#[test]
fn members_of_arguments_announce_parts() {
    let undo = undo_of(&[
        ("njz:Zb4jIp5qJ8", "app:Wq7mLp2xZ9", Format::Text),
        ("4012 8888 8888 1881", "4111 1111 1111 1112", Format::Card),
    ]);
    for (text, expected) in [
        (r#"{"user": "njz", "pw": "Zb4jIp5qJ8"}"#, r#"{"user": "app", "pw": "Wq7mLp2xZ9"}"#),
        (r#"{"db": {"dbUser": "njz"}}"#, r#"{"db": {"dbUser": "app"}}"#),
        (
            r#"{"card_last4": "1881", "card": {"last_four": "1881"}}"#,
            r#"{"card_last4": "1112", "card": {"last_four": "1112"}}"#,
        ),
        (r#"{"note": "njz", "year": "1881"}"#, r#"{"note": "njz", "year": "1881"}"#),
    ] {
        let mut arguments = Embedded::new(AnswerEditor::restore(undo.clone()));
        let mut edits = Vec::new();
        arguments.feed(text, &mut edits).unwrap();
        arguments.end(&mut edits).unwrap();
        assert_eq!(spliced_text(text, &edits), expected);
    }
}
