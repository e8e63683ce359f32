//! Values as programs, settings, commands and people write them: among signs of programs, in connection strings, with blanks, behind
//! tags and arrows, of several strings. And what looks like those and is none.

use super::value_tests::hold;

#[test]
fn passwords_of_mixed_signs_are_no_programs() {
    for value in
        ["kT7mQz(4vRw9bLd", "kT7mQz[4vRw9bLd", "kT7mQz4vRw9bLd(", "kT7mQz->4vRw9(bLd", "4vR(w9bLd::kT7mQz"]
    {
        for place in [
            "password: {}\n",
            "password={}\n",
            "DB_PASSWORD={}\n",
            "<password>{}</password>",
            "<td>Password</td><td>{}</td>",
            "<tr><td class=\"e\">Password </td><td class=\"v\">{} </td></tr>",
            "<td>Password: </td><td>{}</td>",
            "| Password | {} |\n",
        ] {
            let text = place.replace("{}", value);
            hold(&[(&text, &[value])]);
        }
    }
    for value in ["S3aside.Pier9", "Kx9.Lm2q", "Tr0ub4dor.Staple.Horse", "kettle::9Moss", "kettle(9)Moss"] {
        for name in ["DB_PASSWORD", "spring.datasource.password"] {
            let text = format!("{name}={value}\nuser=mo\n");
            hold(&[(&text, &[value])]);
        }
    }
    hold(&[
        ("<password>kT7mQz>4vRw9bLd</password>", &["kT7mQz>4vRw9bLd"]),
        ("password = \",B2,WBUaAHP5v|\"\n", &[",B2,WBUaAHP5v|"]),
        ("password: ';LK7|6S]mM8FcH'\n", &[";LK7|6S]mM8FcH"]),
        ("password: \".YPASGbV'QG*aq\"\n", &[".YPASGbV'QG*aq"]),
        // Programs.
        ("password = getUser2Name(arg1, arg2)\n", &[]),
        ("password = utf8.DecodeString(x1\n", &[]),
        ("PASSWORD=get2Word(Foo)\n", &[]),
        ("DB_PASSWORD=settings.DB_PASSWORD2\n", &[]),
        ("DB_PASSWORD=self.Kx9Value\n", &[]),
        ("password = S3aside.Pier9;\n", &[]),
        ("var a = \"x\", password = \"+user.Kx2mQz7v+\";\n", &[]),
    ]);
}

#[test]
fn a_setting_of_a_connection_string_goes_to_the_sign_behind_it() {
    for value in [
        "Kx9&mQ7zLw2",
        "Kx9(mQ7zLw2",
        "Kx9<mQ7zLw2",
        "Kx9\"mQ7zLw2",
        "Kx9'mQ7zLw2",
        "Kx9 mQ7zLw2",
        "Kx9&amp;mQ7z",
    ] {
        for place in [
            "Server=s;User ID=sa;Password={};Encrypt=True\n",
            "jdbc:sqlserver://h:1433;user=sa;password={};encrypt=true\n",
            "Data Source=s;Uid=sa;Pwd={};Initial Catalog=app\n",
        ] {
            let text = place.replace("{}", value);
            hold(&[(&text, &[value])]);
        }
    }
    hold(&[
        ("Server=s;Uid=sa;Pwd={aut;umn9};Encrypt=yes\n", &["aut;umn9"]),
        ("Server=s;User ID=sa;Password=Kx9mQ7zLw2;Encrypt=True\n", &["Kx9mQ7zLw2"]),
        ("c = \"Server=s;Uid=sa;Pwd=\" + pw2 + \";Encrypt=True\"\n", &[]),
        ("c = \"Server=s;Uid=sa;Pwd={0};Encrypt=True\"\n", &[]),
        ("user=a.u;password=b.p&&c.r;host=d\n", &[]),
    ]);
}

#[test]
fn what_bounds_a_value_with_blanks_bounds_all_of_it() {
    hold(&[
        ("Environment=\"DB_PASSWORD=spring water 9\"\n", &["spring water 9"]),
        ("[\"SMTP_PASS=qpwo eiru tyla ksjd\"]", &["qpwo eiru tyla ksjd"]),
        ("terraform apply -var 'db_password=autumn leaf'\n", &["autumn leaf"]),
        ("{\"args\":[\"--password=autumn leaf\"]}", &["autumn leaf"]),
        ("DB_PASSWORD=spring water 9\nDB_USER=mo\n", &["spring water 9"]),
        ("DB_PASSWORD=spring-water 9", &["spring-water 9"]),
        ("set DB_PASSWORD=win ter 9\n", &["win ter 9"]),
        ("set \"DB_PASSWORD=win ter 9\"\n", &["win ter 9"]),
        ("\"DefaultPassword\"=\"Kiosk kiosk\"\n", &["Kiosk kiosk"]),
        ("<password>autumn leaf</password>", &["autumn leaf"]),
        ("machine h login joan password \"two words\"\n", &["two words"]),
        ("PGPASSWORD=k7Vq2x9 psql db\nDB_USER=mo\n", &["k7Vq2x9"]),
        ("DB_PASSWORD=k7Vq2x9 ./run 9\n", &["k7Vq2x9"]),
        ("sh -c \"DB_PASSWORD=k7Vq2x9 jest unit\"\n", &["k7Vq2x9"]),
        ("\"test\": \"DB_PASSWORD=k7Vq2x9 jest unit\"\n", &["k7Vq2x9"]),
        ("<password>enter your own</password>", &[]),
        ("<password>the old one</password>", &[]),
    ]);
}

#[test]
fn values_stand_behind_tags_and_escapes() {
    hold(&[
        ("password: !!str Kx9mQ7zLw2\n", &["Kx9mQ7zLw2"]),
        ("password: !unsafe 'Kx9mQ7zLw2'\n", &["Kx9mQ7zLw2"]),
        ("password: !vault Kx9mQ7zLw2\n", &["Kx9mQ7zLw2"]),
        ("password: &pw Kx9mQ7zLw2\n", &["Kx9mQ7zLw2"]),
        ("? password\n: Kx9mQ7zLw2\n", &["Kx9mQ7zLw2"]),
        ("db.password=Kx9\\:mQ7zLw2\n", &["Kx9\\:mQ7zLw2"]),
        ("db.password=Kx9\\=mQ7zLw2\n", &["Kx9\\=mQ7zLw2"]),
        ("spring.security.user.password={noop}monday-Blue\n", &["monday-Blue"]),
        ("password: !Ref DbPassword\n", &[]),
        ("password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n", &[]),
        ("password: &mut Digest2\n", &[]),
        ("secret=C\\:/keys/a.pfx\n", &[]),
    ]);
}

#[test]
fn the_line_below_may_have_the_same_signs_before_it() {
    for signs in [">> ", "# ", "// ", "+", "> "] {
        let text = format!("{signs}temporary password:\n{signs}Tmp-9fKq2Lx!\n");
        hold(&[(&text, &["Tmp-9fKq2Lx!"])]);
    }
    hold(&[("# password:\n// Next2Line\n", &[])]);
}

#[test]
fn a_change_shows_two_values() {
    hold(&[
        ("~ password = \"OldPa55word!x\" -> \"NewPa55word!y\"\n", &["OldPa55word!x", "NewPa55word!y"]),
        ("password: OldPa55word!x → NewPa55word!y\n", &["OldPa55word!x", "NewPa55word!y"]),
        ("password: \"OldPa55word!x\" => \"NewPa55word!y\"\n", &["OldPa55word!x", "NewPa55word!y"]),
        ("~ password = \"changeme\" -> \"NewPa55word!y\"\n", &["NewPa55word!y"]),
        ("~ password = null -> \"NewPa55word!y\"\n", &["NewPa55word!y"]),
        ("password: value => isValid12\n", &[]),
        ("  password: string => void\n", &[]),
        ("~ password = \"OldPa55word!x\" -> null\n", &["OldPa55word!x"]),
    ]);
}

#[test]
fn commands_are_given_secrets() {
    hold(&[
        ("echo \"::add-mask::Xk9!mQ7zLw2\"\n", &["Xk9!mQ7zLw2"]),
        ("::set-output name=password::Xk9mQ7zLw2\n", &["Xk9mQ7zLw2"]),
        ("##vso[task.setvariable variable=x;issecret=true]Xk9!mQ7zLw2\n", &["Xk9!mQ7zLw2"]),
        ("gh secret set DEPLOY --body 'Xk9!mQ7zLw2'\n", &["Xk9!mQ7zLw2"]),
        ("gh secret set DEPLOY <<< 'Xk9!mQ7zLw2'\n", &["Xk9!mQ7zLw2"]),
        ("az keyvault secret set --name db --value Xk9!mQ7zLw2\n", &["Xk9!mQ7zLw2"]),
        ("aws ssm put-parameter --name /db/password --value Xk9!mQ7zLw2 --overwrite\n", &["Xk9!mQ7zLw2"]),
        ("aws ssm put-parameter --name x --value Xk9!mQ7zLw2 --type SecureString\n", &["Xk9!mQ7zLw2"]),
        ("echo -n 'Xk9!mQ7zLw2' | docker secret create db -\n", &["Xk9!mQ7zLw2"]),
        ("echo -n 'Xk9!mQ7zLw2' | gcloud secrets create db --data-file=-\n", &["Xk9!mQ7zLw2"]),
        ("echo -n 'Xk9!mQ7zLw2' | vault kv put kv/x y=-\n", &["Xk9!mQ7zLw2"]),
        ("WIFI:S:HomeNet;T:WPA;P:Xk9!mQ7zLw2;;", &["Xk9!mQ7zLw2"]),
        ("joan@corp.com:Aut9!leafX\n", &["Aut9!leafX"]),
        ("Zugangsdaten: admin / Xk9mQ7zLw2\n", &["Xk9mQ7zLw2"]),
        ("echo \"::add-mask::$TOKEN2\"\n", &[]),
        ("##vso[task.setvariable variable=x;issecret=true]$(pw2)\n", &[]),
        ("aws ssm put-parameter --name /app/region --value eu-west-1 --type String\n", &[]),
        ("gh secret set DEPLOY --body \"$TOKEN2\"\n", &[]),
        ("echo part2 | docker image ls\n", &[]),
        ("WIFI:S:HomeNet;T:nopass;;", &[]),
        ("git clone git@github.com:Org1/Repo2.git\n", &[]),
        ("joan@corp.com:8080\n", &[]),
    ]);
}

#[test]
fn strings_that_are_joined_are_one_value() {
    hold(&[
        ("password: \"Xk9\" + \"mQ2vLpz\"\n", &["Xk9\" + \"mQ2vLpz"]),
        ("password = \"nG77Vw\" + \"28=Urt9\"\n", &["nG77Vw\" + \"28=Urt9"]),
        ("password = %q(Xk9(mQ2)vL7b)\n", &["Xk9(mQ2)vL7b"]),
        ("$password = 'Xk9' . 'mQ2vLpz';\n", &["Xk9' . 'mQ2vLpz"]),
        ("password = \"Xk9\" .. \"mQ2vLpz\"\n", &["Xk9\" .. \"mQ2vLpz"]),
        ("password = \"Xk9\" & \"mQ2vLpz\"\n", &["Xk9\" & \"mQ2vLpz"]),
        ("password = 'Xk9' || 'mQ2vLpz'\n", &["Xk9' || 'mQ2vLpz"]),
        ("password = \"Xk9\" \"mQ2vLpz\";\n", &["Xk9\" \"mQ2vLpz"]),
        ("password = 'Xk9' \\\n  'mQ2vLpz'\n", &["Xk9' \\\n  'mQ2vLpz"]),
        ("password = \"Xk9mQ2vLpz\" + suffix2;\n", &["Xk9mQ2vLpz"]),
        ("password = \"Xk9mQ2vLpz\" + \" of mo\";\n", &["Xk9mQ2vLpz"]),
        ("PGPASSWORD=\"Xk9mQ2vLpz\" \"psql2\"\n", &["Xk9mQ2vLpz"]),
        ("password = \"\" + name2 + \"\";\n", &[]),
    ]);
}

#[test]
fn programs_have_calls_arrows_and_lines_around_values() {
    for wrapper in ["crypt", "md5", "sha1", "sha256", "hash", "password", "bcrypt.hash", "encode", "quote"] {
        let text = format!("password = {wrapper}('Xk9mQ2vLpz')\n");
        hold(&[(&text, &["Xk9mQ2vLpz"])]);
    }
    for arrow in ["->", "→", "➜", "➔", "➡", "⇒", "»", "▶"] {
        let text = format!("Password {arrow} Xk9mQ2vLpz\n");
        hold(&[(&text, &["Xk9mQ2vLpz"])]);
    }
    hold(&[
        ("password <- 'Xk9mQ2vLpz'\n", &["Xk9mQ2vLpz"]),
        ("password <<- \"Xk9mQ2vLpz\"\n", &["Xk9mQ2vLpz"]),
        ("My pw's Xk9mQ2vLpz\n", &["Xk9mQ2vLpz"]),
        ("the password's Xk9mQ2vLpz\n", &["Xk9mQ2vLpz"]),
        ("password = %q(Xk9mQ2vLpz)\n", &["Xk9mQ2vLpz"]),
        ("password = %Q[Xk9mQ2vLpz]\n", &["Xk9mQ2vLpz"]),
        ("password=<<EOF\nXk9mQ2vLpz\nEOF\n", &["Xk9mQ2vLpz"]),
        ("password = <<~EOS\n  Xk9mQ2vLpz\nEOS\n", &["Xk9mQ2vLpz"]),
        ("$password = @\"\nXk9mQ2vLpz\n\"@\n", &["Xk9mQ2vLpz"]),
        ("password = \"\"\"\nXk9mQ2vLpz\n\"\"\"\n", &["Xk9mQ2vLpz"]),
        ("password = `\nXk9mQ2vLpz\n`\n", &["Xk9mQ2vLpz"]),
        ("password=^\"Xk9mQ2vLpz^\"\n", &["Xk9mQ2vLpz"]),
        ("password = hash('sha256', data2)\n", &[]),
        ("password <- read_line2(x)\n", &[]),
        ("the password's length is 12\n", &[]),
        ("password = \"\"\"\nthe words of a document\n\"\"\"\n", &[]),
    ]);
}
