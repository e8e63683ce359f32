use super::super::introductions::tests::found;

#[test]
fn a_label_makes_a_name_of_what_stands_behind_it() {
    let rows: &[(&str, &[&str])] = &[
        ("First name: Folasade\nLast name: Okonjo\n", &["PERSON Folasade", "PERSON Okonjo"]),
        ("Nachname: Quispe, Vorname: Ximo", &["PERSON Quispe", "PERSON Ximo"]),
        ("Apellidos: Quispe Huamaní.", &["PERSON Quispe Huamaní"]),
        ("Surname: Will\n", &["PERSON Will"]),
        (r#"{"firstName":"Folasade","lastName":"Okonjo"}"#, &["PERSON Folasade", "PERSON Okonjo"]),
        (r#"{\"first_name\": \"Folasade\"}"#, &["PERSON Folasade"]),
        ("first_name=Folasade familyName=Okonjo ", &["PERSON Folasade", "PERSON Okonjo"]),
        ("<lastName>Okonjo</lastName><x firstName=\"Folasade\">", &["PERSON Okonjo", "PERSON Folasade"]),
        ("PatientDto(firstName=Folasade, lastName=Okonjo)", &["PERSON Folasade", "PERSON Okonjo"]),
        (r#"{"family":"Okonjo","given":["Folasade"]}"#, &["PERSON Okonjo", "PERSON Folasade"]),
        ("<family value=\"Okonjo\"/>", &["PERSON Okonjo"]),
        ("font-family: Inter; {\"family\":\"Intel\"}", &[]),
        ("Name: FOLASADE OKONJO\n", &["PERSON FOLASADE OKONJO"]),
        ("Patient: ANNEGRET SCHWARZKOPF,", &["PERSON ANNEGRET SCHWARZKOPF"]),
        ("姓名: 王小明, 氏名：山田太郎", &["PERSON 王小明", "PERSON 山田太郎"]),
        ("الاسم: محمد علي.", &["PERSON محمد علي"]),
        ("First name: Last name: Email:", &[]),
        ("First name: Required\nLast name: (optional)", &[]),
        ("firstName: String, lastName: VARCHAR(50)", &[]),
        ("firstName = FormControl(), surname: None", &[]),
        ("Vorname: Pflichtfeld. Nachname: bitte", &[]),
        ("姓名: 必填, 名前は山田です", &[]),
        ("the first name Required", &[]),
        ("Name: Payments\nnamespace: Prod", &[]),
        ("Name: API KEY", &[]),
    ];
    for (text, names) in rows {
        assert_eq!(found(text), *names, "{text}");
    }
}

#[test]
fn a_label_in_single_quotes_a_row_or_before_a_dash_makes_a_name_too() {
    check(&[
        ("{'first_name': 'Dmitry'}", &["PERSON Dmitry"]),
        ("{'surname': 'Okonjo', 'firstName': 'Folasade'}", &["PERSON Okonjo", "PERSON Folasade"]),
        ("$user['first_name'] = 'Dmitry';", &["PERSON Dmitry"]),
        ("user[\"lastName\"] = \"Okonjo\"", &["PERSON Okonjo"]),
        ("['first_name' => 'Dmitry', 'last_name' => 'Okonjo']", &["PERSON Dmitry", "PERSON Okonjo"]),
        (":first_name => \"Dmitry\"", &["PERSON Dmitry"]),
        ("| First name | Dmitry |", &["PERSON Dmitry"]),
        (
            "| Field | Value |\n|---|---|\n| **First name** | Dmitry |\n| Surname | Okonjo |\n",
            &["PERSON Dmitry", "PERSON Okonjo"],
        ),
        ("| First name    | Dmitry      |\n", &["PERSON Dmitry"]),
        ("First name \u{2014} Dmitry", &["PERSON Dmitry"]),
        ("- First name \u{2013} Dmitry\n- Surname - Okonjo\n", &["PERSON Dmitry", "PERSON Okonjo"]),
        ("Vorname - Folasade, Nachname - Okonjo", &["PERSON Folasade"]),
        ("| First name | Surname |\n|---|---|\n", &[]),
        ("| First name | Qwert |\n| --- | --- |\n", &[]),
        ("| First name | Qwert | Hlava |\n", &[]),
        ("| Qwert | First name | Hlava |\n", &[]),
        ("| First name | Required |\n", &[]),
        ("| Vorname | Nachname |\n", &[]),
        ("| Name | Qwert |\n", &[]),
        ("First name \u{2014} Mandatory\n", &[]),
        ("First name - Qwert is needed", &[]),
        ("enter the: first name - Qwert\n", &[]),
        ("user['name'] = 'Payments'; {'type': 'Qwert'}", &[]),
        ("font['family'] = 'Qwert'", &[]),
        ("first_name -> Qwert", &[]),
    ]);
}

#[test]
fn addresses_are_found_whatever_pieces_they_arrive_in() {
    let rows: &[(&str, &[&str])] = &[
        ("wir wohnen in der Lindenstraße 12 bei", &["LOCATION Lindenstraße 12"]),
        ("au 14 rue des Lilas, 69003", &["LOCATION 14 rue des Lilas"]),
        ("przy ul. Marszałkowska 10/12, tel", &["LOCATION ul. Marszałkowska 10/12"]),
        ("abita in via Garibaldi 14, là", &["LOCATION via Garibaldi 14"]),
        ("Am Rain 3, 69493 Hirschberg", &["LOCATION Am Rain 3", "LOCATION 69493 Hirschberg"]),
        ("Adresse: 14 bis rue des Lilas, 69003", &["LOCATION 14 bis rue des Lilas"]),
        ("Adresse : 14 ter, avenue Foch, là", &["LOCATION 14 ter, avenue Foch"]),
        ("Adresse : 14, rue des Lilas, là", &["LOCATION 14, rue des Lilas"]),
        ("Address: 500 Oak Avenue, Apt 4B and", &["LOCATION 500 Oak Avenue, Apt 4B"]),
        ("Address: 500 Oak Avenue Apt. 4B and", &["LOCATION 500 Oak Avenue Apt. 4B"]),
        ("wonen: Stalenstraat 12 bus 3, tel", &["LOCATION Stalenstraat 12 bus 3"]),
        ("przy ul. Kwiatowa 15 m. 3, tel", &["LOCATION ul. Kwiatowa 15 m. 3"]),
        ("Адрес: ул. Ленина, д. 5, кв. 12, тел", &["LOCATION ул. Ленина, д. 5, кв. 12"]),
        ("Διεύθυνση: Ερμού 12, τηλ", &["LOCATION Ερμού 12"]),
        ("Stalenstraat 12 m 3 tief", &["LOCATION Stalenstraat 12"]),
        ("3,5 Milligramm Morphin um 10 Uhr, 3 Eier", &[]),
    ];
    for (text, names) in rows {
        assert_eq!(found(text), *names, "{text}");
    }
}

#[test]
fn what_is_called_as_somebody_is_no_person() {
    let things = [
        "with Barrett's oesophagus, Bishop score 7",
        "a Kalman filter and a Jordan matrix",
        "the Monte Carlo method",
        "at 5 Kelvin or 12 Watt",
        "Django 4.2, Flask, Pandas, Jupyter, Ruby, Julia, Kotlin, Dart, Haskell, Ada, Pascal, Delphi",
        "Ruby on Rails",
        "the Cassandra cluster",
        "to Jackson 2.16.1, Hibernate",
        "in Gray code",
        "at Wells Fargo, with Johnson & Johnson and Miles & More",
        "Tel.: 06221 568676, Mobile: 0171",
        "bis am 3. Mai 2024",
        "Avril, Mai, Juin.",
        "Siehe Art. 6 GG",
        "mit Windows 11 Pro",
        "Urlaub: 12 Tage Rest",
        "name, address: Harbour Logistics Ltd, 2345 of",
        "at 3 Patients",
    ];
    for text in things {
        assert_eq!(found(text), Vec::<String>::new(), "{text}");
    }
    let persons: &[(&str, &[&str])] = &[
        ("Julia came, Ruby too", &["PERSON Julia", "PERSON Ruby"]),
        ("Julia 14.30 Uhr", &["PERSON Julia"]),
        ("Julia 12.03.2024", &["PERSON Julia"]),
        ("Ask Henry Gray", &["PERSON Henry Gray"]),
        ("Jordan scored twice", &["PERSON Jordan"]),
        ("Dear Jackson, test it", &["PERSON Jackson"]),
        ("Jennifer & Maria went", &["PERSON Jennifer", "PERSON Maria"]),
        ("she lives in Mobile, Alabama", &["LOCATION Mobile", "LOCATION Alabama"]),
        ("Patient Rosalyn Abernathy came", &["PERSON Rosalyn Abernathy"]),
        ("Sehr geehrter Herr Kollege Kettler,", &["PERSON Kettler"]),
        ("Ruf Karin Mueller an", &["PERSON Karin Mueller"]),
        ("DR. MED. WOLFRAM KETTLER", &["PERSON WOLFRAM KETTLER"]),
        ("Herrn Dr. med. Wolfram Kettler", &["PERSON Wolfram Kettler"]),
        ("Bevollmächtigte: RAe Vogelsang & Partner", &["PERSON Vogelsang"]),
        ("Kettler, Wolfram\n", &["PERSON Kettler, Wolfram"]),
        (
            "Teilnehmer: Kettler, Wolfram; Bergmann, Thorsten",
            &["PERSON Kettler, Wolfram", "PERSON Bergmann, Thorsten"],
        ),
        ("Thanks, Wolfram\n", &["PERSON Wolfram"]),
        ("the United States of America won", &["LOCATION United States of America"]),
        ("In der Familiensache Kettler ./. Kettler", &[]),
        ("In der Kettler", &[]),
    ];
    for (text, names) in persons {
        assert_eq!(found(text), *names, "{text}");
    }
}

/// Texts, and the persons and places in them.
fn check(rows: &[(&str, &[&str])]) {
    for (text, names) in rows {
        assert_eq!(found(text), *names, "{text}");
    }
}

#[test]
fn models_are_nobody_unless_something_says_so() {
    check(&[
        ("You are a Claude agent, built on Anthropic's Claude Agent SDK.", &[]),
        ("You are Claude Code, Anthropic's official CLI for Claude.", &[]),
        ("Co-Authored-By: Claude <x", &[]),
        ("Allows Claude to search. Use Claude, Gemini, Codex and Qwen", &[]),
        ("This is the Qwen Code. Set up Gemini CLI with Devin and Jules", &[]),
        ("Amazon Nova Pro, Llama Maverick, Meta Llama Maverick", &[]),
        ("Hello Claude, ask Siri or Alexa; Cortana and Grok answer", &[]),
        ("I am Claude. i am claude, this is claude code", &[]),
        ("with Mistral Large, Copilot, Cursor, Cline and Perplexity", &[]),
        ("IBM Watson, Sourcegraph Cody, Google Gemma", &[]),
        ("by Claude Dupont and Claude", &["PERSON Claude Dupont"]),
        ("Mr. Claude Bernard, Jean Claude", &["PERSON Claude Bernard", "PERSON Jean Claude"]),
        ("Dear Claude, my daughter Alexa called", &["PERSON Claude", "PERSON Alexa"]),
        ("Mr. Devin came, Jules Verne wrote", &["PERSON Devin", "PERSON Jules Verne"]),
        ("First name: Claude\n", &["PERSON Claude"]),
        ("my name is claude", &["PERSON claude"]),
        ("ask Emma Watson or Cody", &["PERSON Emma Watson", "PERSON Cody"]),
        ("working with Pi documentation, with Dart documentation and Crystal docs, the Julia SDK", &[]),
        ("met Pi Zhang, with Crystal Green", &["PERSON Pi Zhang", "PERSON Crystal Green"]),
    ]);
}

#[test]
fn words_that_begin_sentences_are_no_names() {
    check(&[
        ("Mark each task as completed. Max 100 characters\nGrant access", &[]),
        ("# Tone and style\n## Security and Safety Rules\n**Title Case**", &[]),
        ("1. Mark a subtask\n- Skip tests\n// Chase the error\n| Min | Max |\n- Mark `done`", &[]),
        ("Default 1000. Max 10000.\nDefault 300 (5 min). Max 600. Or `a/*.html`). Max 3 `*` wildcards", &[]),
        ("Grace period, the Grace period; Grace Period", &[]),
        ("Bill the customer. Will be done. Frank words. Mark completed tasks", &[]),
        ("Files and Code Sections: [Important Code Snippet]", &[]),
        ("Math, JSON, Array (e.g., using Vite) and Jetpack Compose (Kotlin)", &[]),
        ("cron: M H DoM Mon DoW", &[]),
        ("Default for Parker {\n  fn new() -> Parker {\n struct Parker;", &[]),
        ("Write to QEZkp.5b1Cr+Rome@02", &[]),
        ("Mark Weber called", &["PERSON Mark Weber"]),
        ("Grace said so. Mark and Anna went", &["PERSON Grace", "PERSON Mark", "PERSON Anna"]),
        ("please ask Max about it, ask Max 3 times", &["PERSON Max", "PERSON Max"]),
        ("Mark completed the form. Rose is here", &["PERSON Mark", "PERSON Rose"]),
        (
            "Max geht heim. Max ist krank. Rose est malade. Mark woont hier",
            &["PERSON Max", "PERSON Max", "PERSON Rose", "PERSON Mark"],
        ),
        ("Jack 030 901820. Rose 12.03.1985. Max 12 Jahre", &["PERSON Jack", "PERSON Rose", "PERSON Max"]),
        ("Dear Mark please send it. Hi Max 3 of us came", &["PERSON Mark", "PERSON Max"]),
        ("Dear Grace, it was with Will Smith", &["PERSON Grace", "PERSON Will Smith"]),
        (
            "Mark's task. Mr. Page wrote to Grace Miller",
            &["PERSON Mark", "PERSON Page", "PERSON Grace Miller"],
        ),
    ]);
}

#[test]
fn a_surname_that_is_a_word_is_one_right_behind_a_title() {
    check(&[
        ("Mr White called.", &["PERSON White"]),
        ("Mr Young called.", &["PERSON Young"]),
        ("Mr Long called.", &["PERSON Long"]),
        ("Mr. White called.", &["PERSON White"]),
        ("Dear Mrs Young,", &["PERSON Young"]),
        ("Ask Dr Rich about it", &["PERSON Rich"]),
        ("Mr King called.", &["PERSON King"]),
        ("The MR Unit and MS Office", &[]),
        ("Mr White House", &[]),
        ("Mr President, Ms Chair", &[]),
        ("I saw the Dr. Call me", &[]),
        ("White called. Young people. Long story.", &[]),
        ("Sister Act, Coach House", &[]),
        ("Sr Director, Sr Staff", &[]),
    ]);
}

/// Things have names as well, and `name` alone does not say whose one is.
#[test]
fn a_name_is_somebodys_or_a_things() {
    check(&[
        ("name: Grace period\n", &[]),
        ("{\"name\": \"Cash flow\"}", &[]),
        ("name: Ray tracing\n", &[]),
        ("name: Gene expression\n", &[]),
        ("name: Chip select\n", &[]),
        ("name: Post message\n", &[]),
        ("name: Olive oil\n", &[]),
        ("name: GRACE PERIOD\n", &[]),
        ("name: Gill Sans\n", &[]),
        ("name: Franklin Gothic\n", &[]),
        ("name: Safari\n", &[]),
        ("name: Haskell\n", &[]),
        ("name: Swift\n", &[]),
        ("product_name: Violet\n", &[]),
        ("{\"name\": \"POST /login\"}", &[]),
        ("Use POST, not GET.", &[]),
        ("Sid", &[]),
        ("Max", &[]),
        ("Maria", &["PERSON Maria"]),
        ("name: Violet\n", &["PERSON Violet"]),
        ("name: Grace\n", &["PERSON Grace"]),
        ("name: Grace home\n", &["PERSON Grace"]),
        ("name: Grace king\n", &["PERSON Grace"]),
        ("name: Maria mobile\n", &["PERSON Maria"]),
        ("customer_name: Safari\n", &["PERSON Safari"]),
        ("my name is Grace\n", &["PERSON Grace"]),
        ("product_name: Maria Lopez\n", &["PERSON Maria Lopez"]),
        ("last_name: POST\n", &["PERSON POST"]),
        ("Mr. POST came", &["PERSON POST"]),
    ]);
}

#[test]
fn a_translated_label_is_nobody() {
    check(&[
        ("lastName: Nom de famille\n", &[]),
        ("{\"firstName\": \"Nombre\"}", &[]),
        ("firstName: Nome\n", &[]),
        ("{\"firstName\": \"Votre prénom\"}", &[]),
        ("city: Ville\n", &[]),
        ("city: Ciudad\n", &[]),
        ("street: Calle\n", &[]),
        ("token: Jeton d'accès\n", &[]),
        ("firstName: Ville\n", &["PERSON Ville"]),
        ("first_name=Folasade surname=Okonjo ", &["PERSON Folasade", "PERSON Okonjo"]),
        ("city: Paris\n", &["LOCATION Paris"]),
        ("Jeton called", &["PERSON Jeton"]),
    ]);
}

/// A word of grammar that is somebody's given name too, at the beginning of a sentence.
#[test]
fn countries_behind_a_word_that_begins_a_sentence_are_places() {
    for front in ["In", "Will", "May", "Can"] {
        for place in ["Germany", "France", "India", "Canada", "London"] {
            let found = found(&format!("{front} {place} the law says so."));
            assert!(found.iter().all(|one| *one == format!("LOCATION {place}")), "{front}: {found:?}");
        }
    }
    assert_eq!(found("Will Smith called."), ["PERSON Will Smith"]);
}

#[test]
fn names_with_apostrophes_and_accents_are_whole() {
    check(&[
        ("4,\"O'Malley, Siobhán\",x", &["PERSON O'Malley, Siobhán"]),
        ("| O'Malley, Siobhán | x", &["PERSON O'Malley, Siobhán"]),
        ("(4,'O''Malley, Siobhán','s')", &["PERSON O''Malley, Siobhán"]),
        ("Author: Siobhán O'Malley <s", &["PERSON Siobhán O'Malley"]),
        ("INSERT (1,'','O','b''c')", &[]),
    ]);
}

/// A word in capitals that is nobody's ends a name and begins one, and does not stand within one.
#[test]
fn full_names_are_found_beside_words_in_capitals() {
    check(&[
        ("Patient Thomas Miller DOB 3/12/81 MRN 483920", &["PERSON Thomas Miller"]),
        ("Call Thomas Miller ASAP, thanks.", &["PERSON Thomas Miller"]),
        ("meeting with Susan Clarke CEO of", &["PERSON Susan Clarke"]),
        ("CEO Susan Clarke said", &["PERSON Susan Clarke"]),
        ("Thomas Miller SSN: 5", &["PERSON Thomas Miller"]),
        ("with Emma Brown PhD and Jack Wilson MBA spoke", &["PERSON Emma Brown", "PERSON Jack Wilson"]),
        ("Thomas Miller MRN Susan Clarke MD", &["PERSON Thomas Miller", "PERSON Susan Clarke"]),
        ("Dear Thomas Miller MD", &["PERSON Thomas Miller"]),
        ("Mr Thomas Miller DOB 3", &["PERSON Thomas Miller"]),
        ("ID Thomas Miller\n", &["PERSON Thomas Miller"]),
        ("Imogen Fairweather MRN 4", &["PERSON Imogen Fairweather"]),
        ("called Kevin Veitonen II, and", &["PERSON Kevin Veitonen"]),
        ("Emma White MD", &["PERSON Emma White"]),
        ("THOMAS MILLER DOB 3", &["PERSON THOMAS MILLER"]),
        ("THOMAS MILLER QWX 3", &[]),
        ("the Sandy Bridge CPU", &[]),
        ("a Harry Potter DVD box", &[]),
        ("The Violet Theme CSS", &[]),
        ("Thomas API Miller", &[]),
        ("Green Hills MULTI", &[]),
        ("USS Abraham Lincoln sailed", &[]),
        ("Lincoln Institute RFPs", &[]),
        ("Jackson Core JSON, Jordan Key API", &[]),
        ("Name: API KEY, Grace TTL", &[]),
    ]);
}

#[test]
fn towns_in_capitals_are_known_by_their_label() {
    check(&[
        ("Ort: REGENSBURG\n", &["LOCATION REGENSBURG"]),
        ("{\"billingCity\": \"REGENSBURG\"}", &["LOCATION REGENSBURG"]),
        ("<city>HARROGATE</city>", &["LOCATION HARROGATE"]),
        ("**Ort:** REGENSBURG", &["LOCATION REGENSBURG"]),
        ("N4*SPRINGFIELD*IL*62701~", &["LOCATION SPRINGFIELD"]),
        ("Hauptstr.\n93047 REGENSBURG\n", &["LOCATION 93047 REGENSBURG"]),
        ("Ort: Florence\n", &["LOCATION Florence"]),
        ("HARROGATE, see REGENSBURG 5", &[]),
        ("city: UTC, city=NULL", &[]),
        ("capacity: REGENSBURG", &[]),
        ("</city>REGENSBURG", &[]),
        ("93047 REGENSBURG is", &[]),
    ]);
}

#[test]
fn typefaces_and_tax_numbers_are_nobody() {
    check(&[
        (".x{font-family:Georgia,serif}", &[]),
        ("font-family: Verdana, Georgia, serif", &[]),
        ("{\"fontFamily\": \"Georgia\"}", &[]),
        ("font: 12px \"Times New Roman\", serif", &[]),
        ("Partita IVA: 04719280362", &[]),
        ("Partita Iva 04719280362", &[]),
        ("P. IVA 04719280362", &[]),
        ("P. IVA di Mario Rossi", &["PERSON Mario Rossi"]),
        ("Iva came", &["PERSON Iva"]),
    ]);
}
