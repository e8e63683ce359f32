//! The law of the group: any split of a text gives the findings of the whole. What the rules' examples cannot say: texts with
//! several values, and each word of each language.

use proptest::prelude::*;

use crate::detect::naming::{DOUBTFUL, KEYS, PASSWORDS};
use crate::detect::{Anchor, Catalogue, Detector, Finding, RuleSelection};

pub(super) fn detector() -> Detector {
    let catalogue = Catalogue::builtin().unwrap();
    let ours = |id: &_| catalogue.rule(*id).is_some_and(|rule| rule.anchor == Anchor::Assign);
    Detector::new(&catalogue, &catalogue.ids().filter(ours).collect::<RuleSelection>()).unwrap()
}

fn examples() -> Vec<String> {
    let catalogue = Catalogue::builtin().unwrap();
    let rules = catalogue.rules().filter(|rule| rule.anchor == Anchor::Assign);
    let texts = rules.flat_map(|rule| rule.matches.iter().chain(&rule.misses));
    texts.map(|text| text.replace(['«', '»'], "")).collect()
}

pub(super) fn scanned(detector: &Detector, text: &str, cuts: &[usize]) -> Vec<Finding> {
    let (mut scanner, mut findings, mut from) = (detector.scanner(), Vec::new(), 0);
    for &cut in cuts.iter().chain([&text.len()]) {
        let Some(piece) = text.get(from..cut) else { continue };
        scanner.feed(piece, &mut |finding| findings.push(finding));
        assert!(scanner.held() <= detector.reach(), "{} held", scanner.held());
        from = cut;
    }
    scanner.end(&mut |finding| findings.push(finding));
    findings
}

/// What is found, as it stands in the text.
pub(super) fn found<'t>(detector: &Detector, text: &'t str) -> Vec<&'t str> {
    detector.find(text).iter().filter_map(|one| text.get(one.span.start..one.span.end)).collect()
}

#[test]
fn words_of_all_languages_are_given_values() {
    let detector = detector();
    for (words, value) in [(PASSWORDS, "Gx7!kkpw"), (DOUBTFUL, "Gx7!kkpw"), (KEYS, "Zk3Jx91LmQpV8sTn2")] {
        for word in words {
            let word = word.replace('_', " ");
            let mut letters = word.chars();
            let first = letters.next();
            let capital: String = first.into_iter().flat_map(char::to_uppercase).chain(letters).collect();
            for name in [&word, &capital] {
                for sign in [": ", " : ", " = ", "=", "：", ":  "] {
                    let text = format!("{name}{sign}{value}");
                    assert_eq!(found(&detector, &text), [value], "{text}");
                }
            }
        }
    }
}

#[test]
fn words_of_other_languages_stand_among_others() {
    let detector = detector();
    let rows: &[(&str, &[&str])] = &[
        ("您的密码：Gx7!kkpw", &["Gx7!kkpw"]),
        ("Ваш новый пароль: Gx7!kkpw", &["Gx7!kkpw"]),
        ("Mot de passe : sunflower7", &["sunflower7"]),
        ("Hasło:\n  Gx7!kkpw\n", &["Gx7!kkpw"]),
        ("superparola: Gx7!kkpw", &[]),
        ("включить: Gx7!kkpw", &[]),
        ("parola\nnuova", &[]),
        ("Пароль: не менее 8 символов", &[]),
        ("Schlüssel: Zk3Jx91LmQpV8sTn2", &[]),
        ("db_haslo=Gx7!kkpw", &["Gx7!kkpw"]),
        ("haslo2: Gx7!kkpw", &["Gx7!kkpw"]),
        ("heslo = heslo2", &[]),
        ("şifrem: aycicegi7", &["aycicegi7"]),
        ("密码：\n- Gx7!kkpw\n- Hq8?mmrt\n", &["Gx7!kkpw", "Hq8?mmrt"]),
    ];
    for (text, values) in rows {
        assert_eq!(found(&detector, text), *values, "{text}");
    }
}

#[test]
fn values_end_where_words_and_signs_of_other_scripts_begin() {
    let detector = detector();
    let rows: &[(&str, &[&str])] = &[
        ("密码：Gx7!kkpw，请尽快修改", &["Gx7!kkpw"]),
        ("密码:sunflower7,请保密", &["sunflower7"]),
        ("密码：Gx7!kkpw。", &["Gx7!kkpw"]),
        ("密码：Gx7!kkpw、用户：bob", &["Gx7!kkpw"]),
        ("密码：sunflower7（旧）", &["sunflower7"]),
        ("パスワード：sunflower7です", &["sunflower7"]),
        ("비밀번호: sunflower7입니다", &["sunflower7"]),
        ("Password: 「sunflower7」", &["sunflower7"]),
        ("密码：【Gx7!kkpw】", &["Gx7!kkpw"]),
        ("密码：《Gx7!kkpw》", &["Gx7!kkpw"]),
        ("Password: ‘sunflower7’", &["sunflower7"]),
        ("Password: ‹sunflower7›", &["sunflower7"]),
        ("【密码】：Gx7!kkpw", &["Gx7!kkpw"]),
        ("「パスワード」：Gx7!kkpw", &["Gx7!kkpw"]),
        ("账号admin密码Gx7!kkpw", &["Gx7!kkpw"]),
        ("пароль: подсолнух7", &["подсолнух7"]),
        ("初始密码：身份证后6位", &[]),
        ("默认密码：学号后6位", &[]),
        ("口令：不少于8位", &[]),
        ("密码：8-16位", &[]),
        ("密码: 10-20位,字母和数字", &[]),
        ("パスワード：数字4桁", &[]),
        ("비번: 6자리", &[]),
        ("密码学：RSA1024x!", &[]),
        ("密码 = hash2(密码)", &[]),
        ("\"密码\": \"10-16位\"", &[]),
        ("Mot de passe : obligatoire*", &[]),
        ("\"kata sandi\": \"wajib\"", &[]),
        ("\"Mot de passe\": \"Obligatoire\"", &[]),
    ];
    for (text, values) in rows {
        assert_eq!(found(&detector, text), *values, "{text}");
    }
}

#[test]
fn sentences_of_other_languages_give_values() {
    let detector = detector();
    for text in [
        "mi contraseña es Gx7!kkpw",
        "a senha é Gx7!kkpw",
        "la password è Gx7!kkpw",
        "le mot de passe est : Gx7!kkpw",
        "密码是Gx7!kkpw",
        "密码为：Gx7!kkpw",
        "パスワードはGx7!kkpwです",
        "비밀번호는 Gx7!kkpw 입니다",
        "كلمة السر هي Gx7!kkpw",
        "mật khẩu là Gx7!kkpw",
        "hasło to Gx7!kkpw",
        "heslo je Gx7!kkpw",
        "mot de passe du wifi : Gx7!kkpw",
        "contraseña del wifi: Gx7!kkpw",
        "senha do wifi: Gx7!kkpw",
        "Passwort fürs WLAN: Gx7!kkpw",
        "пароль от wifi: Gx7!kkpw",
        "hasło do wifi: Gx7!kkpw",
        "mật khẩu wifi: Gx7!kkpw",
        "password wifi: Gx7!kkpw",
        "Password 2: Gx7!kkpw",
    ] {
        assert_eq!(found(&detector, text), ["Gx7!kkpw"], "{text}");
    }
    for text in ["la contraseña es obligatoria", "password field for step2: see below", "hasło do gry: Ala2"]
    {
        assert_eq!(found(&detector, text), [""; 0], "{text}");
    }
}

#[test]
fn words_with_other_meanings_need_values_without_a_doubt() {
    let detector = detector();
    for text in [
        r#"{"parola": "casa"}"#,
        r#"parola = "ciao""#,
        r#"geslo = "zdravo""#,
        r#"{"parole": "granted"}"#,
        r#"mdp = "FrozenLake-v1""#,
        "mdp: gridworld5x5",
        "mdp : 12.3%",
        "Κωδικός: 00123-A",
        "Senha: A123",
        "Heslo: Praha2",
        "Parola: casa1",
        "Geslo leta: covid19!",
        "Losungswort: Gott2",
        "| Parola | Significato |",
        "$parola = $_POST[\"parola\"];",
    ] {
        assert_eq!(found(&detector, text), [""; 0], "{text}");
    }
    for (text, value) in [
        ("parola: Gx7!kkpw", "Gx7!kkpw"),
        ("MDP : Soleil75!", "Soleil75!"),
        (r#"{"hasło": "Gx7!kkpw"}"#, "Gx7!kkpw"),
        ("Utilisateur : bob\nMDP : soleil75", "soleil75"),
        ("Utente: admin\nParola: girasole7", "girasole7"),
        ("Χρήστης: admin\nΚωδικός: iliotropio7", "iliotropio7"),
        ("Usuário: admin\nSenha: girassol7", "girassol7"),
        ("| Hasło | Gx7!kkpw |\n", "Gx7!kkpw"),
    ] {
        assert_eq!(found(&detector, text), [value], "{text}");
    }
}

#[test]
fn cookies_of_a_header_are_a_list_in_any_pieces() {
    let detector = detector();
    let [one, two] = ["9f8a1b2c3d4e5f60718293a4b5c6d7e8", "wvm5x0ag1k2bq3cn4dr5es6f7gt8hu9i"];
    let long = "k3".repeat(20);
    let rows = [
        (format!("Cookie: theme=dark; session={one}; auth={two}"), vec![one, two]),
        (format!("Cookie: ASP.NET_SessionId={two}; x={one}"), vec![two]),
        (format!("Cookie: {}session_id={one}", format!("a={long}; ").repeat(30)), vec![one]),
        (format!("Set-Cookie: .AspNetCore.Cookies={two}; Path=/; HttpOnly"), vec![two]),
        (format!(r#"{{"Cookie": "a=b; sid={one}"}}"#), vec![one]),
        (format!(r#"curl -b "a=b;session={one}" http://x"#), vec![one]),
        (format!("Cookie:theme=dark; auth={two}"), vec![two]),
        (format!(r#"document.cookie = "theme=dark; auth={two}""#), vec![two]),
        (format!("wget --cookie=auth={two} h"), vec![two]),
        (format!("Cookie: csrftoken={one}; theme={two}"), vec![]),
        ("sid=S-1-5-21-1234567890-1234567890-1234567890-1001; domain=CORP".to_owned(), vec![]),
        ("user=bob; session=2f1c9d7e-4b61-8c2f-aaaa-0123456789ab; ip=10.0.0.1".to_owned(), vec![]),
        ("x; windowsid=12-34-56-78-90-ab-cd; path=/".to_owned(), vec![]),
        ("start session=user-login-flow-v2; path=/home".to_owned(), vec![]),
    ];
    for (text, values) in rows {
        assert_eq!(found(&detector, &text), values, "{text}");
        let whole = detector.find(&text);
        for step in [1, 7, 300] {
            let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % step == 0).collect();
            assert_eq!(scanned(&detector, &text, &cuts), whole, "{text} by {step}");
        }
    }
}

/// What stands in items that are no secrets, and the secret in it.
const INNER: [(&str, &str); 5] = [
    ("postgres://app:Gx7!kkpw@h/x", "app:Gx7!kkpw"),
    ("mysql -u root -pGx7!kkpw -h db", "Gx7!kkpw"),
    ("wget -x && curl -u mo:Gx7!kkpw h", "mo:Gx7!kkpw"),
    ("password=Gx7!kkpw", "Gx7!kkpw"),
    ("Authorization: Basic dXNlcjpHeDcha2twdw==", "dXNlcjpHeDcha2twdw=="),
];

#[test]
fn items_that_are_no_secrets_are_scanned_like_any_text() {
    let detector = detector();
    let session = "9f8a1b2c3d4e5f60718293a4b5c6d7e8";
    // Each list has a secret of its own before that or behind it, or none.
    let lists: [(&str, Option<&str>, Option<&str>); 16] = [
        ("Cookie: theme={}; session=9f8a1b2c3d4e5f60718293a4b5c6d7e8", None, Some(session)),
        ("Cookie: name=Al Green; x={}; sid=9f8a1b2c3d4e5f60718293a4b5c6d7e8", None, Some(session)),
        ("Set-Cookie: a={}; Path=/; HttpOnly\n", None, None),
        (r#"{"Cookie": "a={}; sid=9f8a1b2c3d4e5f60718293a4b5c6d7e8"}"#, None, Some(session)),
        (r#"wget -b "a={}; session=9f8a1b2c3d4e5f60718293a4b5c6d7e8" h"#, None, Some(session)),
        ("wget --cookie 'a={}; session=9f8a1b2c3d4e5f60718293a4b5c6d7e8' h", None, Some(session)),
        ("passwords:\n  - {}\n  - Hq8?mmrt\n", None, Some("Hq8?mmrt")),
        ("password:\n  - Wq7#mLp2xZ9\n  - {}\n  - Kx9mQz7!\n", Some("Wq7#mLp2xZ9"), Some("Kx9mQz7!")),
        ("passwords:\n  amy: Hq8?mmrt\n  bob: {}\n", Some("Hq8?mmrt"), None),
        ("passwords:\n  - Hq8?mmrt # {}\n  - Wq7#mLp2xZ9\n", Some("Hq8?mmrt"), Some("Wq7#mLp2xZ9")),
        ("passwords: # {}\n  - Hq8?mmrt\n", None, Some("Hq8?mmrt")),
        (r#"{"passwords": ["{}", "Hq8?mmrt"]}"#, None, Some("Hq8?mmrt")),
        (r#"{"passwords": {"bob": "{}", "amy": "Hq8?mmrt"}}"#, None, Some("Hq8?mmrt")),
        ("passwords = ['{}', 'Hq8?mmrt']", None, Some("Hq8?mmrt")),
        ("passwords = [{}, Hq8?mmrt]", None, Some("Hq8?mmrt")),
        ("Passwords: Hq8?mmrt, {}\n", Some("Hq8?mmrt"), None),
    ];
    for (list, first, last) in lists {
        for (inner, secret) in INNER {
            let text = list.replace("{}", inner);
            let values: Vec<&str> = first.into_iter().chain([secret]).chain(last).collect();
            // An item in quotes may be a phrase that is one.
            let found = found(&detector, &text);
            let covered = found.iter().zip(&values).all(|(found, value)| found.contains(value));
            assert!(covered && found.len() == values.len(), "{text}: {found:?}");
            let whole = detector.find(&text);
            for step in [1, 5, 11] {
                let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % step == 0).collect();
                assert_eq!(scanned(&detector, &text, &cuts), whole, "{text} by {step}");
            }
        }
    }
}

#[test]
fn a_list_goes_on_behind_one_within_an_item() {
    let detector = detector();
    let session = "9f8a1b2c3d4e5f60718293a4b5c6d7e8";
    let text = format!("passwords:\n  - wget -b 'a=b; session={session}' h\n  - Hq8?mmrt\n");
    assert_eq!(found(&detector, &text), [session, "Hq8?mmrt"], "{text}");
    let bytes: Vec<usize> = (1..text.len()).collect();
    assert_eq!(scanned(&detector, &text, &bytes), detector.find(&text));
}

#[test]
fn every_item_of_a_list_is_found_in_any_pieces() {
    let detector = detector();
    let rows: &[(&str, &[&str])] = &[
        (
            "passwords:\n  - Gx7!kkpw # bob\n  - changeme\n  - sunflower7\n\nusers:\n  - bob12\n",
            &["Gx7!kkpw", "sunflower7"],
        ),
        (
            "{\"passwords\": [\"Gx7!kkpw\",\n  \"Hq8?mmrt\"], \"names\": [\"bob12\"]}",
            &["Gx7!kkpw", "Hq8?mmrt"],
        ),
        ("passwords = [Gx7!kkpw, 'Hq8?mmrt']", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("password:\n  - Wq7#mLp2xZ9\n  - Kx9mQz7!\n", &["Wq7#mLp2xZ9", "Kx9mQz7!"]),
        ("{'password': ['Wq7#mLp2xZ9', 'min:8']}", &["Wq7#mLp2xZ9"]),
        ("passwords:\n  - password=Gx7!kkpw\n", &["Gx7!kkpw"]),
        ("passwords:\n  - Gx7!kkpw\n- sunflower7\n", &["Gx7!kkpw"]),
        ("passwords:\n  - Gx7!kkpw\n\n\n  - sunflower7\n", &["Gx7!kkpw"]),
        ("passwords:\n  - Gx7!kkpw\n\n  - sunflower7\n", &["Gx7!kkpw", "sunflower7"]),
        ("passwords:\n- Gx7!kkpw\n- buy 12 eggs!\n- Hq8?mmrt\n", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("passwords: # old\n  # bob\n  - Gx7!kkpw\n  # amy\n  - Hq8?mmrt\n", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("passwords: [\n  \"Gx7!kkpw\", // bob\n  \"\",\n  \"Hq8?mmrt\"]", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("**Passwords:**\n* Gx7!kkpw\n* Hq8?mmrt\n", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("Passwords:\n1. Gx7!kkpw\n2. Hq8?mmrt\n", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("Passwords:\n• Gx7!kkpw\n• Hq8?mmrt\n", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("Passwords: Hq8?mmrt, Gx7!kkpw\n", &["Hq8?mmrt", "Gx7!kkpw"]),
        ("{\"passwords\": {\"bob\": \"Gx7!kkpw\", \"amy\": \"Hq8?mmrt\"}}", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("passwords:\n  bob: Gx7!kkpw\n  amy: Hq8?mmrt\n", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("passwords = (\"Gx7!kkpw\", \"Hq8?mmrt\")", &["Gx7!kkpw", "Hq8?mmrt"]),
        ("passwords = [hash1, hash2, hash3]", &[]),
        ("passwords = [pw1, pw2]", &[]),
        (
            "api_keys: [a83hf92hdkq02jd8fh2kd92f, b94ig03ielr13ke9gi3le03g]",
            &["a83hf92hdkq02jd8fh2kd92f", "b94ig03ielr13ke9gi3le03g"],
        ),
    ];
    for (text, values) in rows {
        let whole = detector.find(text);
        assert_eq!(found(&detector, text), *values, "{text}");
        for cut in 1..text.len() {
            assert_eq!(scanned(&detector, text, &[cut]), whole, "{text} at {cut}");
        }
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, text, &bytes), whole, "{text}");
    }
}

#[test]
fn every_example_in_every_two_pieces_and_byte_by_byte() {
    let detector = detector();
    for text in examples() {
        let whole = detector.find(&text);
        for cut in 1..text.len() {
            assert_eq!(scanned(&detector, &text, &[cut]), whole, "{text} at {cut}");
        }
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, &text, &bytes), whole, "{text}");
    }
}

#[test]
fn a_long_value_is_covered_to_its_end() {
    let detector = detector();
    let secret = "Zk3Jx91LmQpV8sTn2é".repeat(90);
    for text in [format!("x\npassword={secret} and"), format!("\"db_password\": \"{secret}\"}}")] {
        let whole = detector.find(&text);
        let start = text.find(&secret).unwrap();
        let ends = (whole.first().unwrap().span.start, whole.last().unwrap().span.end);
        assert_eq!(ends, (start, start + secret.len()), "{text}");
        assert!(whole.windows(2).all(|pair| pair[0].span.end == pair[1].span.start));
        assert!(
            whole.iter().all(|one| text.get(one.span.start..one.span.end).is_some()),
            "cut within a letter"
        );
        for step in [1, 7, 300] {
            let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % step == 0).collect();
            assert_eq!(scanned(&detector, &text, &cuts), whole);
        }
    }
}

/// Places of passwords, and the longest that each can have, in bytes.
const PLACES: [(&str, usize); 45] = [
    ("curl -u mo:{} https://h", 5000),
    ("curl -u 'mo:{}' https://h", 5000),
    ("mysql -u root -p{} app", 5000),
    ("mysql -u 'root' -p'{}' app", 5000),
    ("mariadb-dump -u root -p{} app", 5000),
    ("sshpass -p {} ssh h", 5000),
    ("sshpass -p '{}' ssh h", 5000),
    ("net user mo {} /add", 5000),
    ("net user \"mo x\" \"{}\" /add", 5000),
    ("net use Z: //srv/share /user:mo {}", 5000),
    ("docker login -u mo -p {} h", 5000),
    ("docker login -u mo -p '{}' h", 5000),
    ("redis-cli -a {} ping", 5000),
    ("sqlcmd -S db -P {} -Q x", 5000),
    ("7z a -p{} x.7z", 5000),
    ("xfreerdp /p:{} /v:srv", 5000),
    ("smbclient //srv/share -U mo%{}", 5000),
    ("lftp -u mo,{} h", 5000),
    ("sqlplus mo/{}@db", 5000),
    ("sudo -S <<< {} true", 5000),
    ("stats auth mo:{}\n", 5000),
    ("echo {} | sudo -S true", 512),
    ("https://mo:{}@h/x", 5000),
    ("CREATE USER mo IDENTIFIED BY '{}';", 5000),
    ("smtp.login('mo', '{}')", 5000),
    ("login: mo / {}\n", 5000),
    ("Password:\n{}\n", 5000),
    ("ENV['DB_PASSWORD'] || '{}'", 5000),
    ("passwords:\n  - {}\n", 5000),
    ("{\"passwords\": [\"{}\"]}", 5000),
    ("passwords = [{}]", 5000),
    ("htpasswd -b f bob {}", 5000),
    ("smbclient //h/s {} -U bob", 5000),
    ("wpa_passphrase ssid {}", 5000),
    ("vault login {}", 5000),
    ("mysql -uroot '-p{}' db", 5000),
    ("unrar x -p{} a.rar", 5000),
    ("snmpwalk -v3 -A {} h", 5000),
    ("psexec.py dom/bob:{}@h", 5000),
    ("open h\nuser bob {}\n", 5000),
    ("sqlplus mo/\"{}\"@db", 5000),
    ("passwords = %w[{}]", 5000),
    ("passwords: [\n  [\"bob\", \"{}\"]]", 5000),
    ("user.setPassword(\"{}\")", 5000),
    ("parola mea este {}", 5000),
];

#[test]
fn passwords_of_any_length_are_covered() {
    let detector = detector();
    let long = "Gx7kkpwZq9".repeat(500);
    for (place, longest) in PLACES {
        for length in
            (9..=longest).step_by(121).chain([127, 129, 506, 508, 510, 511, 512, 513, 514, 1023, 1025])
        {
            let Some(password) = long.get(..length).filter(|_| length <= longest) else { continue };
            let text = place.replace("{}", password);
            let (start, end) = (text.find(password).unwrap(), text.find(password).unwrap() + length);
            let mut covered = start;
            for one in detector.find(&text) {
                if one.span.start <= covered {
                    covered = covered.max(one.span.end);
                }
            }
            assert!(covered >= end, "{place}: {length} bytes, covered {}", covered - start);
        }
    }
}

#[test]
fn what_stands_before_a_long_option_is_found_in_any_pieces() {
    let detector = detector();
    let long = "Gx7kkpwZq9".repeat(70);
    let header = "dXNlcjpHeDcha2twdw==";
    let text = format!("curl -H 'Authorization: Basic {header}' -u mo:{long} https://h; password=Hq8?mmrt");
    let whole = detector.find(&text);
    let values = found(&detector, &text);
    assert_eq!((values.first(), values.last()), (Some(&header), Some(&"Hq8?mmrt")), "{text}");
    for step in [1, 7, 300] {
        let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % step == 0).collect();
        assert_eq!(scanned(&detector, &text, &cuts), whole, "by {step}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn any_examples_in_any_pieces(
        picks in proptest::collection::vec((any::<usize>(), 0..80usize, "[ -~]{0,3}|\n| |\u{e9}"), 1..12),
        mut cuts in proptest::collection::vec(0..900usize, 0..12),
    ) {
        let (detector, examples) = (detector(), examples());
        let part = |(pick, cut, gap): (usize, usize, String)| {
            let example = &examples[pick % examples.len()];
            // A third of the parts are whole, the others are cut short.
            let kept = if pick % 3 == 0 { usize::MAX } else { cut };
            example.chars().take(kept).chain(gap.chars()).collect::<String>()
        };
        let text: String = picks.into_iter().map(part).collect();
        let whole = detector.find(&text);
        cuts.sort_unstable();
        cuts.retain(|&cut| cut <= text.len());
        prop_assert_eq!(&scanned(&detector, &text, &cuts), &whole, "{}", text);
        let bytes: Vec<usize> = (1..text.len()).collect();
        prop_assert_eq!(&scanned(&detector, &text, &bytes), &whole, "{}", text);
    }
}
