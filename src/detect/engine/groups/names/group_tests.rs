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
fn addresses_are_found_whatever_pieces_they_arrive_in() {
    let rows: &[(&str, &[&str])] = &[
        ("wir wohnen in der Lindenstraße 12 bei", &["LOCATION Lindenstraße 12"]),
        ("au 14 rue des Lilas, 69003", &["LOCATION 14 rue des Lilas"]),
        ("przy ul. Marszałkowska 10/12, tel", &["LOCATION ul. Marszałkowska 10/12"]),
        ("abita in via Garibaldi 14, là", &["LOCATION via Garibaldi 14"]),
        ("Am Rain 3, 69493 Hirschberg", &["LOCATION Am Rain 3", "LOCATION 69493 Hirschberg"]),
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
