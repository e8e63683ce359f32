//! Lists of secrets, cookies and passwords on command lines: every item is found, in any pieces, and nothing of what stands in
//! like places in programs and manuals.

use super::tests::{detector, found, scanned};

/// What is found in each text, whole, in any two pieces and byte by byte.
fn assert_found(rows: &[(&str, &[&str])]) {
    let detector = detector();
    let wrong = rows.iter().map(|(text, values)| (text, found(&detector, text), *values));
    let wrong: Vec<_> = wrong.filter(|(_, found, values)| found != values).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (text, _) in rows {
        let whole = detector.find(text);
        for cut in 1..text.len() {
            assert_eq!(scanned(&detector, text, &[cut]), whole, "{text} at {cut}");
        }
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, text, &bytes), whole, "{text}");
    }
}

const A: &str = "Zx4-Kq8_Wm2.Rt6";
const B: &str = "hQ7wLm3Xr9Tz2Pv";
const ID: &str = "9f8Kq2Lm7Xr4Tz1Pv6Bn3Wd5";

/// The rows whose texts have these values for `A` and `B`, in their order.
fn assert_lists(rows: &[(&str, &[&str])]) {
    let texts: Vec<String> =
        rows.iter().map(|(text, _)| text.replace("«A»", A).replace("«B»", B).replace("«ID»", ID)).collect();
    let rows: Vec<(&str, &[&str])> =
        texts.iter().zip(rows).map(|(text, (_, values))| (text.as_str(), *values)).collect();
    assert_found(&rows);
}

#[test]
fn unusual_cookies_do_not_end_a_header() {
    let long = format!("Cookie: j={}; auth={ID}", "x".repeat(1200));
    let named = format!("Cookie: {}=1; auth={ID}", "x".repeat(200));
    let session = "Q7xK9zLmW3pR5vT8nB2cJ4hF".repeat(25);
    let detector = detector();
    assert_eq!((found(&detector, &long), found(&detector, &named)), (vec![ID], vec![ID]));
    for place in
        ["sid={}; Path=/", "Cookie: a; auth={}; b", "setcookie('session', '{}')", "cookies={'sid': '{}'}"]
    {
        assert_eq!(found(&detector, &place.replace("{}", &session)).concat(), session, "{place}");
    }
    assert_lists(&[
        ("Cookie: seen; auth=«ID»", &[ID]),
        ("Cookie: ; auth=«ID»", &[ID]),
        ("Cookie: a=1;; auth=«ID»", &[ID]),
        ("Cookie: =x; auth=«ID»", &[ID]),
        ("Cookie: a =1; auth=«ID»", &[ID]),
        ("Cookie: a[b]=c; a:b=c; a/b=c; a|b=c; a!b=c; auth=«ID»", &[ID]),
        ("Cookie: $Version=1; ключ=1; auth=«ID»", &[ID]),
        ("Cookie: j={\"k\":\"v\"}; auth=«ID»", &[ID]),
        ("Cookie: j='v'; auth=«ID»", &[ID]),
        ("Cookie: j=\"a;b\"; auth=«ID»", &[ID]),
        ("Cookie: j=\"b c\"; auth=«ID»", &[ID]),
        ("Cookie: j=a\\b; auth=«ID»", &[ID]),
        ("curl -b 'seen; j=\"b c\"; auth=«ID»' h", &[ID]),
        ("{\"Cookie\":\"seen; j=\\\"v\\\"; auth=«ID»\"}", &[ID]),
        ("Set-Cookie: session=«ID»; Path=/, auth=«ID»", &[ID, ID]),
        ("Cookie: a=1;\r\n auth=«ID»", &[ID]),
        ("Cookie: remember_me=«ID»; jwt=«ID»; li_at=«ID»; cf_clearance=«ID»", &[ID, ID, ID, ID]),
        ("res.cookie('session', '«ID»')", &[ID]),
        ("setcookie(\"session\", \"«ID»\", time())", &[ID]),
        ("requests.get(u, cookies={'theme': 'dark', 'session': '«ID»'})", &[ID]),
        ("example.com\tFALSE\t/\tTRUE\t0\tsession\t«ID»\n", &[ID]),
        ("-b 'a=1'; auth=«ID»", &[]),
        ("Cookie: a=1\nauth=«ID»", &[]),
        ("document.cookie='a=1'; auth=«ID»", &[]),
        ("e.cookie=t+'; path=/'; n.auth=«ID»", &[]),
        ("Cookie: csrf_token=«ID»; theme=«ID»", &[]),
        ("res.cookie('theme', '«ID»')", &[]),
        ("cookies={'csrftoken': '«ID»'}", &[]),
        ("example.com\tFALSE\t/\tTRUE\t0\ttheme\t«ID»\n", &[]),
    ]);
}

#[test]
fn items_are_parted_by_any_sign() {
    assert_lists(&[
        ("PASSWORDS=( \"«A»\" \"«B»\" )", &[A, B]),
        ("declare -a PASSWORDS=(\n  \"«A»\"\n  \"«B»\"\n)\n", &[A, B]),
        ("passwords: «A»; «B»\n", &[A, B]),
        ("passwords: «A» / «B»\n", &[A, B]),
        ("passwords: «A» | «B»\n", &[A, B]),
        ("passwords: «A» «B» «A»\n", &[A, B, A]),
        ("passwords: «A», «B» and «A»\n", &[A, B, A]),
        ("passwords: «A», and «B»\n", &[A, B]),
        ("passwords = [[\"bob\",\"«A»\"],[\"al\",\"«B»\"]]", &[A, B]),
        ("The password is «A» or «B».", &[A, B]),
        ("The passwords are «A» and «B».", &[A, B]),
        ("PASSWORDS=\"«A»,«B»\"\n", &[A, B]),
        ("passwords = '«A» «B»'\n", &[A, B]),
        ("passwords: «A» is old, use it once for step2.\n", &[A]),
        ("passwords: see the wiki of 2024-Q3; ask Bob12\n", &[]),
        ("the password is required or optional2", &[]),
        ("{\"passwords\": [\"«A»\"], \"names\": [\"bob12\"]}", &[A]),
        ("passwords = [[\"a\"], [\"b\"]]; names = [\"bob-12x\"]", &[]),
    ]);
}

#[test]
fn types_and_calls_open_lists() {
    assert_lists(&[
        ("const passwords: string[] = [\"«A»\", \"«B»\"]", &[A, B]),
        ("passwords := []string{\"«A»\", \"«B»\"}", &[A, B]),
        ("String[] passwords = {\"«A»\", \"«B»\"};", &[A, B]),
        ("passwords = new String[]{\"«A»\", \"«B»\"};", &[A, B]),
        ("const passwords = new Set([\"«A»\", \"«B»\"])", &[A, B]),
        ("passwords = List.of(\"«A»\", \"«B»\");", &[A, B]),
        ("val passwords = listOf(\"«A»\", \"«B»\")", &[A, B]),
        ("let passwords = vec![\"«A»\", \"«B»\"];", &[A, B]),
        ("$passwords = array(\"«A»\", \"«B»\");", &[A, B]),
        ("$passwords = @(\"«A»\", \"«B»\")", &[A, B]),
        ("passwords <- c(\"«A»\", \"«B»\")", &[]),
        ("passwords = c(\"«A»\", \"«B»\")", &[A, B]),
        ("passwords = frozenset((\"«A»\", \"«B»\"))", &[A, B]),
        ("passwords = tolist([\"«A»\", \"«B»\"])", &[A, B]),
        ("passwords = {'«A»', '«B»'}", &[A, B]),
        ("my @passwords = qw(«A» «B»);", &[A, B]),
        ("passwords = %w[«A» «B»]", &[A, B]),
        ("passwords=(«A» «B»)\n", &[A, B]),
        ("passwords += [\"«A»\", \"«B»\"]", &[A, B]),
        ("passwords.append(\"«A»\")", &[A]),
        ("passwords = /* old */ [\"«A»\", \"«B»\"]", &[A, B]),
        ("passwords = load(\"conf/users-1.json\")", &[]),
        ("passwords = decrypt(\"«A»\")", &[]),
        ("passwords: string[] = []", &[]),
        ("passwords = (user for user in users2)", &[]),
        ("tokens = tokenizer.encode(\"The year 2024\")", &[]),
        ("passwords.append(user2)", &[]),
    ]);
}

#[test]
fn pairs_sections_and_blocks_are_lists() {
    assert_lists(&[
        ("passwords = {'bob' => '«A»', 'al' => '«B»'}", &[A, B]),
        ("$passwords = ['bob' => '«A»'];", &[A]),
        ("%passwords = (bob => '«A»', al => '«B»');", &[A, B]),
        ("passwords = { bob = \"«A»\", al = \"«B»\" }", &[A, B]),
        ("passwords = {\n  bob = \"«A»\"\n  al = \"«B»\"\n}\n", &[A, B]),
        ("const passwords = {bob: \"«A»\", al: \"«B»\"}", &[A, B]),
        ("passwords:\n  bob = «A»\n  al = «B»\n", &[A, B]),
        ("[passwords]\nbob = \"«A»\"\nal = «B»\n", &[A, B]),
        ("passwords[0]=«A»\n", &[A]),
        ("passwords[\"bob\"] = \"«A»\"", &[A]),
        ("passwords:\n- - «A»\n- - «B»\n", &[A, B]),
        ("passwords: &p\n  - «A»\n  - «B»\n", &[A, B]),
        ("passwords: |\n  «A»\n  «B»\n", &[A, B]),
        ("Passwords:\n«A»\n«B»\n", &[A, B]),
        ("passwords = \"\"\"\n«A»\n«B»\n\"\"\"", &[A, B]),
        ("passwords = [\"Kx7:Lm2!Qp9\", \"«A»\"]", &["Kx7:Lm2!Qp9", A]),
        ("passwords = { algorithm: \"argon2id\", min_length: \"12chars\" }", &[]),
        ("[passwords]\nmin_length = 12\nrotate = 90d\n", &[]),
        ("Passwords:\nUse at least 8 signs and 1 digit.\n", &[]),
        ("passwords[0] = users[0].name2", &[]),
    ]);
}

#[test]
fn standards_and_rules_are_no_items() {
    assert_lists(&[
        ("passwords:\n  - OWASP-ASVS-4.0\n  - argon2id-v1.3\n  - rotate_every_90d\n", &[]),
        ("passwords:\n  - min_length_12\n  - no-reuse-5x\n", &[]),
        ("passwords = [\"password1_field\", \"name1_field\"]", &[]),
        ("secrets = [\"db-password-v2\", \"api-key-v3\"]", &[]),
        ("let traffic_secret_expander = TLS13_CHACHA20_POLY1305_SHA256_INTERNAL\n    .hkdf", &[]),
        ("Proxy-pass `#[allow]`/`#[deny]` to rustc", &[]),
        ("passwords:\n  - kx7-lm2-qp9\n  - summer-2024\n", &["kx7-lm2-qp9", "summer-2024"]),
        ("passwords = [\"min:8\", \"required|string\"]", &[]),
    ]);
}

#[test]
fn commands_take_passwords_in_quotes_glued_and_as_words() {
    const P: &[&str] = &["Kx7%Lm2!Qp9z"];
    let rows: Vec<(String, &[&str])> = [
        "mysql -uroot '-p{}' db",
        "mongosh -u a -p{}",
        "ldapsearch -w{} -x",
        "sqlcmd -P{} -Q x",
        "unrar x -p{} a.rar",
        "rar a -hp{} a.rar",
        "docker login -u mo -p{}",
        "docker login -u mo '-p{}'",
        "htpasswd -b f bob {}",
        "htpasswd -nb bob {}",
        "net use Z: \\\\s\\h {} /user:bob",
        "smbclient //h/s {} -U bob",
        "rabbitmqctl add_user bob {}",
        "rabbitmqctl change_password bob {}",
        "wpa_passphrase ssid {}",
        "vault login {}",
        "redis-cli AUTH {}",
        "open h\nuser bob {}\n",
        "npm config set //r/:_authToken {}",
        "openssl enc -aes-256-cbc -k {} -in a",
        "snmpwalk -v3 -A {} h",
        "az sql server create -n a -p {}",
        "ldappasswd -s {} -x",
        "ipmitool -H h -P {} chassis",
        "cqlsh -u a -p {}",
        "isql -U a -P {}",
        "oc login -u a -p {}",
        "evil-winrm -u a -p {}",
        "hydra -l a -p {} h",
        "keytool -importkeystore -srcstorepass {}",
        "secretsdump.py dom/bob:{}@h",
        "echo \"{}\" | docker login --password-stdin",
        "printf '%s' '{}' | docker login --password-stdin",
        "docker login --password-stdin <<< \"{}\"",
    ]
    .iter()
    .map(|text| (text.replace("{}", P[0]), P))
    .collect();
    let rows: Vec<(&str, &[&str])> = rows.iter().map(|(text, values)| (text.as_str(), *values)).collect();
    assert_found(&rows);
    assert_found(&[
        ("ab -n 10 -A bob:Kx7%Lm2!Qp9z h", &["bob:Kx7%Lm2!Qp9z"]),
        ("sqlplus bob/\"Kx7%Lm2!Qp9z\"@db", &["bob/\"Kx7%Lm2!Qp9z"]),
        ("snmpwalk -v3 -A Kx7%Lm2!Qp9z -X Gx7!kkpw9 h", &["Kx7%Lm2!Qp9z", "Gx7!kkpw9"]),
        ("vault login, then run", &[]),
        ("call `htpasswd -b file user password`.", &[]),
        ("(\"redis-cli AUTH \", Word(0)),\n", &[]),
        ("wpa_passphrase makes a key of a phrase", &[]),
        ("docker login --password-stdin < file2", &[]),
        ("mongosh --port 27017 --path /data2", &[]),
        ("\nuser name2 is not known", &[]),
        ("\nuser bob admin\n", &[]),
        ("htpasswd -c /etc/nginx/users2 bob", &[]),
        ("smbclient -L //host2", &[]),
        ("the _authToken is required", &[]),
        ("python exec.py run:all2", &[]),
        ("echo \"%PASSWORD%\" | docker login --password-stdin", &[]),
        ("net use Z: \\\\s\\h /user:bob", &[]),
    ]);
}

#[test]
fn calls_set_and_compare_secrets() {
    assert_lists(&[
        ("user.setPassword(\"«A»\");", &[A]),
        ("builder.withPassword(\"«A»\")", &[A]),
        ("client.set_api_key(\"«B»\")", &[B]),
        ("if (password.equals(\"«A»\")) {", &[A]),
        ("if (!strcmp(password, \"«A»\"))", &[A]),
        ("page.type(password, \"«A»\")", &[A]),
        ("password = new String(\"«A»\")", &[A]),
        ("std::string password = std::string(\"«A»\");", &[A]),
        ("password = str(\"«A»\")", &[A]),
        ("user.setPassword(\"Enter your password\")", &[]),
        ("user.setPassword(password2)", &[]),
        ("user.setPasswordHint(\"«A»\")", &[]),
        ("form.setPass(\"required1\")", &[]),
        ("log(password, \"«A»\")", &[]),
        ("password.equals(other2)", &[]),
        ("tokens.equals(\"abc\")", &[]),
    ]);
}

#[test]
fn sentences_with_possessives_and_purposes_give_values() {
    assert_lists(&[
        ("parola mea este «A»", &[A]),
        ("ο κωδικός μου είναι «A»", &[A]),
        ("הסיסמה שלי היא «A»", &[A]),
        ("kata sandi saya «A»", &[A]),
        ("la clave es «A»", &[A]),
        ("a senha do wifi é «A»", &[A]),
        ("пароль от вайфая «A»", &[A]),
        ("الرقم السري: «A»", &[A]),
        ("the token is «A».", &[A]),
        ("the api key is «B»", &[B]),
        ("the password was changed from «A» to «B»", &[A, B]),
        ("la clave es importante en 2024", &[]),
        ("la clave es user1@example.com", &[]),
        ("пароль от вайфая забыт", &[]),
        ("a senha do wifi é obrigatória", &[]),
        ("the token is required in version2", &[]),
        ("the api key is read from config2", &[]),
        ("the password was changed from 8 to 12 characters", &[]),
        ("passwords are hashed and salted2", &[]),
    ]);
}

#[test]
fn arguments_behind_cookies_are_read_by_their_own_names() {
    let detector = detector();
    for text in [
        "Client(cookie=None, password='Tr9xK4!2vQ7m', user='bob')",
        "document.cookie=c;password='Tr9xK4!2vQ7m';",
        "def f(cookie=None, password=\"Tr9xK4!2vQ7m\", x=1)",
        "cookie=1&password='Tr9xK4!2vQ7m'",
    ] {
        assert_eq!(found(&detector, text), ["Tr9xK4!2vQ7m"], "{text}");
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, text, &bytes), detector.find(text), "{text}");
    }
    for text in ["Password: don't", "  password: string;confirmPassword"] {
        assert!(found(&detector, text).is_empty(), "{text}");
    }
}
