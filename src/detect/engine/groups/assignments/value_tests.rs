//! Values as they are: with any first sign, with signs that end others, of any length, of letters alone, within what programs put
//! around them. And what stands in the same places and is none.

use super::tests::{detector, found, scanned};

/// Each text has these values and no others, in one piece and byte by byte.
pub(super) fn hold(rows: &[(&str, &[&str])]) {
    let detector = detector();
    for (text, values) in rows {
        assert_eq!(found(&detector, text), *values, "{text}");
        let bytes: Vec<usize> = (1..text.len()).collect();
        assert_eq!(scanned(&detector, text, &bytes), detector.find(text), "{text}");
    }
}

#[test]
fn values_may_begin_with_any_sign() {
    hold(&[
        (
            r#""SecretAccessKey": "+QUvcm2dcDMgyXvvCpbhkx1xTjxjBARqntc7FKB1""#,
            &["+QUvcm2dcDMgyXvvCpbhkx1xTjxjBARqntc7FKB1"],
        ),
        (
            "aws_secret_access_key = +7LYoFPYxACKMOo40vhlkVzsxuLoDLFKHPNFVBxg",
            &["+7LYoFPYxACKMOo40vhlkVzsxuLoDLFKHPNFVBxg"],
        ),
        (r#"{"password": ".Qx7kLm2Vr9Tz4Pw8"}"#, &[".Qx7kLm2Vr9Tz4Pw8"]),
        (r#"{"password": ",Qx7kLm2Vr9Tz4Pw8"}"#, &[",Qx7kLm2Vr9Tz4Pw8"]),
        (r#"{"password": ")Qx7kLm2Vr9Tz4Pw8"}"#, &[")Qx7kLm2Vr9Tz4Pw8"]),
        ("PGPASSWORD=';Qx7kLm2Vr9Tz4Pw8' psql", &[";Qx7kLm2Vr9Tz4Pw8"]),
        ("password: !Qx7kLm2Vr9Tz4Pw8", &["!Qx7kLm2Vr9Tz4Pw8"]),
        ("password: *Qx7kLm2Vr9Tz4Pw8", &["*Qx7kLm2Vr9Tz4Pw8"]),
        ("password: -Qx7kLm2Vr9", &["-Qx7kLm2Vr9"]),
        ("password: $Qx7kLm2Vr9Tz4Pw8", &["$Qx7kLm2Vr9Tz4Pw8"]),
        ("DB_PASSWORD=[Qx7kLm2Vr9Tz4Pw8\n", &["[Qx7kLm2Vr9Tz4Pw8"]),
        ("DB_PASSWORD=;Qx7kLm2Vr9Tz4Pw8\n", &[";Qx7kLm2Vr9Tz4Pw8"]),
        ("<password>!Qx7kLm2Vr9Tz4Pw8</password>", &["!Qx7kLm2Vr9Tz4Pw8"]),
        // Programs, and YAML.
        ("url = \"?password=\"+cfg.user2Name+\"&x\"", &[]),
        ("a(\"password\", \".getElement2ById.\", \"x\")", &[]),
        ("password: !Ref DbPassword2\n", &[]),
        ("password: !vault2Secret\n", &[]),
        ("password: *defaultPassword1\n", &[]),
        ("password: &defaultPassword1\n", &[]),
        ("password: [hidden2]\n", &[]),
        ("password = $oauth2ClientName;\n", &[]),
        ("password = &config.v2Password;\n", &[]),
        ("let password = -read_line2(x);\n", &[]),
    ]);
}

#[test]
fn a_value_holds_signs_that_end_others() {
    for sign in [";", "\"", "'", "`", "\\", "<"] {
        let value = format!("Tr9xK4!2vQ7m{sign}Lp4Zx8Wn3");
        for place in [
            "DB_PASSWORD={}\n",
            "password: {}\n",
            "  - password: {}\n",
            "spring.datasource.password={}\nuser=mo\n",
            "The password is {}\n",
            "| Password | {} |\n",
        ] {
            let text = place.replace("{}", &value);
            hold(&[(&text, &[&value])]);
        }
    }
    hold(&[
        ("password: p;Q7&xL#2m\n", &["p;Q7&xL#2m"]),
        ("password: b\\Q7x!L2m9\n", &["b\\Q7x!L2m9"]),
        ("SECRET_KEY=Tr9xK4!2vQ7m)Lp4Zx8Wn3\n", &["Tr9xK4!2vQ7m)Lp4Zx8Wn3"]),
        (
            "SECRET_KEY=zTZ#q8#q5tcgwL0z5Lhd=iLGUr9ZrArZkG@cS)=AzaJ^YmPd\n",
            &["zTZ#q8#q5tcgwL0z5Lhd=iLGUr9ZrArZkG@cS)=AzaJ^YmPd"],
        ),
        (
            "SECRET_KEY=i83o)(&+2gvl)$j$(p=s^og!=$wi^!#@kez2q$spa_=$em+!!#\n",
            &["i83o)(&+2gvl)$j$(p=s^og!=$wi^!#@kez2q$spa_=$em+!!#"],
        ),
        ("<password>Q7xL2m9Kp&amp;Zt4</password>", &["Q7xL2m9Kp&amp;Zt4"]),
        ("<password>Q7xL2m9Kp;Zt4'x</password>", &["Q7xL2m9Kp;Zt4'x"]),
        // What follows is another setting, a tag, an escape, a program.
        ("password=Tr9xK4!2vQ7m;user=mo\n", &["Tr9xK4!2vQ7m"]),
        ("password=Tr9xK4!2vQ7m;Uid=mo;Lp4=x\n", &["Tr9xK4!2vQ7m"]),
        ("password: Tr9xK4!2vQ7m<br>\n", &["Tr9xK4!2vQ7m"]),
        ("password: Tr9xK4!2vQ7m</p>\n", &["Tr9xK4!2vQ7m"]),
        ("password: Tr9xK4!2vQ7m\\nuser:mo\n", &["Tr9xK4!2vQ7m"]),
        ("password: Tr9xK4!2vQ7m\";\n", &["Tr9xK4!2vQ7m"]),
        ("password: Tr9xK4!2vQ7m; rest\n", &["Tr9xK4!2vQ7m"]),
        ("say \"the password is Tr9xK4!2vQ7m\"now\n", &["Tr9xK4!2vQ7m"]),
        ("password=$1;next2\n", &[]),
        ("password = row['pass2word']\n", &[]),
        ("secret: C:\\Keys2\\a.pfx\n", &[]),
        ("<password>&lt;password2&gt;</password>", &[]),
    ]);
}

#[test]
fn settings_have_their_names_behind_their_values_too() {
    hold(&[
        (r#"<add value="Gx7!kkpw" key="SmtpPassword"/>"#, &["Gx7!kkpw"]),
        (r#"<property value="Gx7!kkpw" name="db.password"/>"#, &["Gx7!kkpw"]),
        (r#"x = "<env value=\"Gx7!kkpw\" name=\"DB_PASSWORD\"/>""#, &["Gx7!kkpw"]),
        (r#"<add value="Gx7!kkpw" key="Theme"/><add value="Hq8?mmrt" key="SmtpPassword"/>"#, &["Hq8?mmrt"]),
        (r#"<add value="" key="SmtpPassword"/>"#, &[]),
        (r#"<add value="Gx7!kkpw" key="PasswordPolicy"/>"#, &[]),
        (r#"entry { key: "password" value: "Gx7!kkpw" }"#, &["Gx7!kkpw"]),
        (r#"say "password" value: none"#, &[]),
        ("cs1Label=Password cs1=Gx7!kkpw act=login", &["Gx7!kkpw"]),
        ("cs1Label=Password cs2=Gx7!kkpw act=login", &[]),
        // Another variable.
        ("pw = pulse_width9\n", &[]),
        ("int pw = pulse_width9;\n", &[]),
        ("pw = sunflower7\n", &["sunflower7"]),
    ]);
}

#[test]
fn letters_of_no_language_are_a_password_behind_a_colon() {
    hold(&[
        ("password: sctyNuShQBrA", &["sctyNuShQBrA"]),
        ("password: fVM4noinXEOV", &["fVM4noinXEOV"]),
        ("password: EtwHIvjkgoleA3dx", &["EtwHIvjkgoleA3dx"]),
        ("the password is sctyNuShQBrA", &["sctyNuShQBrA"]),
        ("requirepass sctyNuShQBrA\n", &["sctyNuShQBrA"]),
        ("passwords:\n  - sctyNuShQBrA\n", &["sctyNuShQBrA"]),
        ("token: Rk3dFmabcXYqWe", &["Rk3dFmabcXYqWe"]),
        ("password: newUserPassword", &[]),
        ("password: PasswordField", &[]),
        ("password: getPassFromEnv", &[]),
        ("password: oldUsrValue", &[]),
        ("password: myDbUserPwd", &[]),
        ("password: JavaScript", &[]),
        ("password: HTTPClientConfig", &[]),
        ("token: nextTokenId", &[]),
        ("token: CancellationToken", &[]),
    ]);
}

#[test]
fn values_stand_in_what_programs_put_around_them() {
    hold(&[
        ("password = new String(\"Gx7!kkpw\");", &["Gx7!kkpw"]),
        ("password = String(\"Gx7!kkpw\")", &["Gx7!kkpw"]),
        ("std::string password = std::string(\"Gx7!kkpw\");", &["Gx7!kkpw"]),
        ("password = str('Gx7!kkpw')", &["Gx7!kkpw"]),
        ("password=$'Gx7!kkpw'", &["Gx7!kkpw"]),
        ("password: ${PW:Gx7!kkpw}\n", &["Gx7!kkpw"]),
        ("password: ${db.password:sunflower7}\n", &["sunflower7"]),
        ("@Value(\"${db.password:Gx7!kkpw}\")", &["Gx7!kkpw"]),
        ("@Value(\"${db.password:}\")", &[]),
        ("password: ${db.password:#{null}}\n", &[]),
        ("password: ${env:DB_PASSWORD2}\n", &[]),
        ("password: ${vault:secret2/db}\n", &[]),
        ("password=${PASSWORD:0:12}\n", &[]),
        ("password=${PASSWORD:?missing2}\n", &[]),
        ("password: z.string(\"Required\")", &[]),
        ("password = String(\"Enter the password\")", &[]),
    ]);
}

/// Places of values that end with a tag, a bar, a quote or a line.
const PLACES: [&str; 9] = [
    "<password>{}</password>",
    "<token>{}</token>",
    "<key>password</key>\n<string>{}</string>",
    "dsn = \"bob:{}@tcp(h)/db\"",
    "requirepass {}\n",
    "masterauth {}\n",
    "| Password | {} |\n",
    "password = '{}' # end",
    "{\"password\": \"{}\", \"x\": 1}",
];

#[test]
fn values_of_any_length_are_covered_in_any_place() {
    let detector = detector();
    let long = "Vq7tRm2zLp9xKw4J".repeat(130);
    for place in PLACES {
        for length in [100, 127, 128, 129, 500, 511, 512, 513, 600, 1024, 1025, 2000] {
            let mut values = vec![long.get(..length).unwrap().to_owned()];
            // Quotes hold blanks, and quotes that are escaped.
            if place.contains("'{}'") || place.contains("\"{}\",") {
                values.push(format!("{0} {0}", long.get(..length / 2).unwrap()));
                let quote = if place.contains('\'') { "\\'" } else { "\\\"" };
                values.push(format!("{0}{quote}{0}", long.get(..length - 1).unwrap()));
            }
            for value in values {
                let text = place.replace("{}", &value);
                let (start, whole) = (text.find(&value).unwrap(), detector.find(&text));
                let end = start + value.len();
                let mut covered = start;
                for one in whole.iter().filter(|one| one.span.start <= end) {
                    covered = if one.span.start <= covered { covered.max(one.span.end) } else { covered };
                }
                // What follows a long one in a source of data is taken along.
                let whole_source = place.contains("@tcp") && length > 500;
                assert!(
                    covered == end || covered > end && whole_source,
                    "{place}: {length} bytes, {covered} of {end}"
                );
                let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % 7 == 0).collect();
                assert_eq!(scanned(&detector, &text, &cuts), whole, "{place}: {length} bytes");
            }
        }
    }
}

/// Lists, calls and commands whose values stand in quotes.
const QUOTED_PLACES: [&str; 8] = [
    "passwords = [\"{}\", \"Kx9!LmQ2#77Lm\"]\n",
    "passwords:\n  - \"{}\"\n",
    "mysql -u bob -p\"{}\" shop\n",
    "sshpass -p \"{}\" ssh bob@example.com\n",
    "curl -u \"bob:{}\" https://example.com/\n",
    "mongosh --password \"{}\" --username bob\n",
    "echo \"{}\" | docker login --password-stdin\n",
    "os.environ[\"DB_PASSWORD\"] = \"{}\"\n",
];

#[test]
fn a_long_value_in_quotes_goes_on_to_its_quote() {
    let detector = detector();
    for place in QUOTED_PLACES {
        for sign in ["; ", "'", "& ", "<x> ", "\\\""] {
            let value = format!("{}{sign}{}", "Vq7tRm2zLp9xKw4J".repeat(33), "Kx9!LmQ2#77Lm".repeat(20));
            let text = place.replace("{}", &value);
            let start = text.find(&value).unwrap();
            let found = detector.find(&text);
            let covered = found.iter().fold(start, |covered, one| match one.span.start <= covered {
                true => covered.max(one.span.end),
                false => covered,
            });
            assert!(covered >= start + value.len(), "{place} {sign}: {covered} of {}", start + value.len());
            let cuts: Vec<usize> = (1..text.len()).filter(|cut| cut % 7 == 0).collect();
            assert_eq!(scanned(&detector, &text, &cuts), found, "{place} {sign}");
        }
    }
}

#[test]
fn backslashes_before_a_quote_are_counted() {
    hold(&[
        (r#"{"password": "Kx9!LmQ2#77Lm\\"}"#, &[r"Kx9!LmQ2#77Lm\\"]),
        (r#"{"password": "Kx9!Lm\"Q2#77Lm"}"#, &[r#"Kx9!Lm\"Q2#77Lm"#]),
        (r#"{"password": "Kx9!Lm\\\"Q2#77Lm"}"#, &[r#"Kx9!Lm\\\"Q2#77Lm"#]),
        (r#""{\"password\": \"Kx9!LmQ2#77Lm\\\\\"}""#, &[r"Kx9!LmQ2#77Lm\\\\"]),
        (r#""{\"password\": \"Kx9!Lm\\\"Q2#77Lm\"}""#, &[r#"Kx9!Lm\\\"Q2#77Lm"#]),
    ]);
}

#[test]
fn a_quote_that_stands_for_itself_ends_no_value() {
    hold(&[
        ("password: 'Kx9!Lm''Q2#77Lm'\n", &["Kx9!Lm''Q2#77Lm"]),
        ("ALTER USER bob WITH PASSWORD 'Kx9!Lm''Q2#77Lm';\n", &["Kx9!Lm''Q2#77Lm"]),
        ("password = @\"Kx9!Lm\"\"Q2#77Lm\";\n", &["Kx9!Lm\"\"Q2#77Lm"]),
        ("password='Kx9!Lm'\\''Q2#77Lm'\n", &["Kx9!Lm'\\''Q2#77Lm"]),
        ("password = ''\nuser = 'mo'\n", &[]),
        ("os.system(\"mysql -u bob -p\\\"Kx9!LmQ2#77Lm\\\" db\")\n", &["Kx9!LmQ2#77Lm"]),
        ("os.system(\"echo \\\"Kx9!LmQ2#77Lm\\\" | docker login --password-stdin\")\n", &["Kx9!LmQ2#77Lm"]),
        ("net user \"mo\" \"Kx9!LmQ2#77Lm\" /add\n", &["Kx9!LmQ2#77Lm"]),
        ("mysql -u \"bob\\\" -p\"Kx9!LmQ2#77Lm\" shop\n", &["Kx9!LmQ2#77Lm"]),
        ("mysql -u 'bob\\' -p'Kx9!LmQ2#77Lm' shop\n", &["Kx9!LmQ2#77Lm"]),
    ]);
}

#[test]
fn backslashes_at_the_end_of_a_piece_are_part_of_a_value() {
    let detector = detector();
    let long = "Vq7tRm2zLp9xKw4J".repeat(40);
    for length in (490..530).step_by(3) {
        for slashes in [2, 4, 8, 16, 18, 32] {
            let value = format!("{}{}", long.get(..length).unwrap(), "\\".repeat(slashes));
            for place in ["{\"password\": \"{}\"}", "DB_PASSWORD=\"{}\"\n", "passwords = [\"{}\"]\n"] {
                let text = place.replace("{}", &value);
                let found = detector.find(&text);
                let start = text.find(&value).unwrap();
                let covered: usize = found.iter().map(|one| one.span.end - one.span.start).sum();
                let whole = found.first().is_some_and(|one| one.span.start == start) && covered >= length;
                assert!(whole, "{place}: {length} and {slashes}, {covered}");
            }
        }
    }
}
