use super::*;

#[test]
fn passwords_are_values_and_not_references() {
    for value in ["hunter2", "S3cr3t!", "correct horse", "win$ter9", "Tr0ub4dor&3", "пароль12"] {
        assert!(password(value.as_bytes()), "{value}");
    }
    let not = [
        "",
        "abc",
        "password",
        "${DB_PASSWORD}",
        "$DB_PASSWORD",
        "{{ password }}",
        "%s",
        "<password>",
        "********",
        "xxxxxxxx",
        "null",
        "$(cat file)",
        "%PASSWORD%",
        "/run/secrets/db/password",
        "#{pw}",
        "your_password",
        "https://example.com/reset",
        ".,:;!?",
        "2024-11-19T04:08:06.803654Z",
        "2024-11-19 04:08:06",
        "sha-256",
        "argon2id",
        "utf8",
    ];
    for value in not {
        assert!(!password(value.as_bytes()), "{value}");
    }
}

#[test]
fn keys_are_generated() {
    let keys = [
        "9f86d081884c7d659a2feaa0c55ad015",
        "Zk3Jx91LmQpV8sTn2",
        "yqLNtkpPWCroaSMj",
        "p4h7Tq0b3Nz",
        "0f3a17c2-9d7e-4b61-8c2f-5e6a7b8c9d0e",
        "ab12cd34ef56ab12cd34ef56",
        "Rk3dFmabcXYqWe",
        "juro6maeI/JMvpyhFIBGMObmAowpyjNbFCYo5ITW",
    ];
    for value in keys {
        assert!(key(value.as_bytes(), true), "{value}");
    }
    let not = [
        "my-api-key-name",
        "put_key_here",
        "ACCESS_TOKEN_SECRET",
        "defaultTokenProvider",
        "aaaaaaaaaaaaaaaa",
        "config/keys/private.pem",
        "process.env.API_KEY",
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "your-32-byte-key-0a1b2c3d",
        "quarter-figures-2024",
        "jjwt-jackson-0.11.2",
        "{prior_params_key}[{f_name}]",
        "typevar={thing!r}",
        "(^|[^a-zA-Z0-9_.'])",
        "pem_file::private_key(io::BufRead)",
        "ring_core_0_17_14__aes_hw_set_encrypt_key",
        "my-app/5026-stage-150723_224258.war",
        "okta-token-verifier:0.5.7-SNAPSHOT",
        "jsonwebtoken@9.0.2",
        "defaultUsr2TokenName",
        "api/v2/listOldUsersFromTable",
    ];
    for value in not {
        assert!(!key(value.as_bytes(), true), "{value}");
    }
}

#[test]
fn keys_of_people_are_a_word_and_a_number() {
    for value in ["sunflower7", "Football12", "SUNFLOWER2024"] {
        assert!(word_key(value.as_bytes()), "{value}");
    }
    let not = [
        "sunflower",
        "tulip7",
        "sun7flower",
        "SunFlower7",
        "mytoken77",
        "testing12",
        "sunflower-7",
        "sha512224",
    ];
    for value in not {
        assert!(!word_key(value.as_bytes()), "{value}");
    }
}

#[test]
fn passwords_of_directories_decode() {
    assert!(packed(b"R3g3IWtrcHc=") && packed(b"c3VuZmxvd2VyNw=="));
    assert!(!packed(b"required") && !packed(b"AAECAwQF") && !packed(b"a b c d"));
}

#[test]
fn users_may_be_left_out() {
    assert!(userinfo(b":bowser2") && userinfo(b":secret") && userinfo(b"mo:k7Vq2x"));
    assert!(!userinfo(b":$PASS") && !userinfo(b":${PASS}") && !userinfo(b":password"));
}

#[test]
fn basic_credentials_decode() {
    assert!(basic(b"QWxhZGRpbjpvcGVuIHNlc2FtZQ==") && !basic(b"bm9jb2xvbg==") && !basic(b"a b"));
}

#[test]
fn a_time_is_one_to_its_end() {
    for value in [
        "2024-11-19T04:08",
        "2024-11-19 04:08:06",
        "2024-11-19T04:08:06.803654Z",
        "2024-11-19T04:08:06+01:00",
        "2024-11-19T04:08:06-0800",
    ] {
        assert!(is_time(value.as_bytes()), "{value}");
    }
    for value in [
        "2024-11-19_04:08-8374658374659823746598",
        "2024-11-19T04:08:99887766554433221100",
        "9999-99-99T99:99",
        "2024-11-19T04:08:06.803654Zx",
        "2024-11-19",
        "",
    ] {
        assert!(!is_time(value.as_bytes()), "{value}");
    }
}
