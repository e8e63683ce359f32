//! Values that are called by what stands elsewhere: shapes of many programs, as documents and as the texts of messages; and
//! documents that say what a value is and have none, which stay.

use crate::redact::fixture::masked;

const PASSWORD: &str = "hunter2Zq9";
const SSN: &str = "536228741";
const NAME: &str = "Okonkwo-Adeyemi";

/// With `P` for a password, `S` for a number and `N` for a name, each between `<` and `>`.
const SHAPES: [&str; 106] = [
    // Names beside values.
    r#"{"env":[{"name":"DB_PASSWORD","value":"<P>"}]}"#,
    r#"{"fields":[{"id":"field_7","name":"input_7","label":"SSN","value":"<S>"}]}"#,
    r#"{"name":"ssn","of":[1,2],"at":{"x":1},"value":"<S>"}"#,
    r#"{"label":"Password","text":"<P>"}"#,
    r#"{"label":"SSN","text":"<S>"}"#,
    r#"{"label":"Last name","text":"<N>"}"#,
    r#"{"title":"Password","text":"<P>"}"#,
    r#"{"name":"password","content":"<P>"}"#,
    r#"{"term":"SSN","definition":"<S>"}"#,
    r#"{"caption":"Password","text":"<P>"}"#,
    r#"{"header":"Password","text":"<P>"}"#,
    r#"{"prompt":"password","response":"<P>"}"#,
    r#"{"column":"password","cell":"<P>"}"#,
    r#"{"property":"password","object":"<P>"}"#,
    r#"{"slot":"password","value":"<P>"}"#,
    r#"{"placeholder":"Password","value":"<P>"}"#,
    // What browsers are told to write.
    r#"{"element":"Password field","ref":"e12","text":"<P>"}"#,
    r#"{"element":"SSN input","ref":"e12","text":"<S>"}"#,
    r##"{"selector":"#password","value":"<P>"}"##,
    r#"{"selector":"input[name=password]","value":"<P>"}"#,
    r#"{"uid":"1_2","value":"<P>","label":"Password"}"#,
    r#"{"fields":[{"name":"Password","type":"textbox","ref":"e12","value":"<P>"}]}"#,
    r#"{"by":"id","value":"password","text":"<P>"}"#,
    r#"{"using":"css selector","selector":"input#password","text":"<P>"}"#,
    r#"{"nodeName":"INPUT","attributes":["type","password","value","<P>"]}"#,
    r#"{"snapshot":"- textbox \"Password\" [ref=e12]: <P>\n- textbox \"SSN\" [ref=e13]: \"<S>\""}"#,
    // Slack, Notion, monday, Typeform, Textract, Document Intelligence.
    r#"{"type":"input","label":{"type":"plain_text","text":"Password"},"element":{"type":"plain_text_input","initial_value":"<P>"}}"#,
    r#"{"properties":{"Password":{"id":"a%3A","type":"rich_text","rich_text":[{"type":"text","text":{"content":"<P>","link":null},"plain_text":"<P>"}]}}}"#,
    r#"{"properties":{"SSN":{"id":"title","type":"title","title":[{"type":"text","text":{"content":"<S>"},"plain_text":"<S>"}]}}}"#,
    r#"{"column_values":[{"id":"text","column":{"title":"Password"},"text":"<P>"}]}"#,
    r#"{"answers":[{"field":{"id":"x1","type":"short_text","ref":"password"},"type":"text","text":"<P>"}]}"#,
    r#"{"key":{"text":"Password:"},"value":{"text":"<P>"}}"#,
    r#"{"keyValuePairs":[{"key":{"content":"SSN"},"value":{"content":"<S>"}}]}"#,
    // OpenTelemetry, protobuf, MongoDB, XML as JSON.
    r#"{"attributes":[{"key":"user.password","value":{"stringValue":"<P>"}},{"key":"ssn","value":{"stringValue":"<S>"}}]}"#,
    r#"{"attributes":[{"key":"ssn","value":{"arrayValue":{"values":[{"stringValue":"<S>"}]}}}]}"#,
    r#"{"structVal":{"password":{"stringVal":["<P>"]},"ssn":{"stringVal":["<S>"]}}}"#,
    r#"{"ssn":{"$numberLong":"<S>"}}"#,
    r##"{"String":[{"Key":"Password","Value":{"#text":"<P>","@ProtectInMemory":"True"}}]}"##,
    r##"{"person":{"ssn":{"#text":"<S>"}}}"##,
    r#"{"field":[{"$":{"name":"password"},"_":"<P>"}]}"#,
    r#"{"password":[{"_":"<P>","$":{"type":"x"}}]}"#,
    r#"{"field":{"_attributes":{"name":"ssn"},"_text":"<S>"}}"#,
    r#"{"type":"element","name":"property","attributes":{"name":"db.password"},"elements":[{"type":"text","text":"<P>"}]}"#,
    r#"{"type":"element","tagName":"password","properties":{},"children":[{"type":"text","value":"<P>"}]}"#,
    r#"{"name":["password"],"value":["<P>"]}"#,
    // DynamoDB, Firestore, and the like.
    r#"{"key":{"S":"DB_PASSWORD"},"value":{"S":"<P>"}}"#,
    r#"{"fields":{"key":{"stringValue":"DB_PASSWORD"},"value":{"stringValue":"<P>"}}}"#,
    r#"{"name":{"value":"password"},"value":{"value":"<P>"}}"#,
    r#"{"Item":{"id":{"S":"7"},"password":{"S":"<P>"},"lastName":{"S":"<N>"}}}"#,
    r#"{"fields":{"title":{"stringValue":"Dr"},"lastName":{"stringValue":"<N>"},"password":{"stringValue":"<P>"}}}"#,
    // Members that say themselves that they hold a secret, beside names.
    r#"{"Name":"prod/db","SecretString":"<P>"}"#,
    r#"{"name":"prod-db","secretValue":"<P>"}"#,
    r#"{"name":"prod-db","password_value":"<P>"}"#,
    r#"{"label":"Shop","passwordValue":"<P>"}"#,
    r#"{"key":"app-7","clientSecretValue":"<P>"}"#,
    r#"{"name":"prod-db","clientSecretValue":{"stringValue":"<P>"}}"#,
    r#"{"Feld":"Passwort","Wert":"<P>"}"#,
    // Recorders, and ids of fields.
    r##"{"type":"change","value":"<P>","selectors":[["aria/Password"],["#password"]]}"##,
    r#"{"command":"type","target":"id=password","value":"<P>"}"#,
    r##"{"method":"fill","locator":"#password","value":"<P>"}"##,
    r#"{"type":"plain_text_input","action_id":"password","value":"<P>"}"#,
    r#"{"state":{"values":{"b1":{"password":{"type":"plain_text_input","value":"<P>"}}}}}"#,
    r#"{"type":4,"custom_id":"password","value":"<P>"}"#,
    r#"{"fieldId":"ssn","value":"<S>"}"#,
    r#"{"ref":"password","value":"<P>"}"#,
    r#"{"uid":"password","value":"<P>"}"#,
    r#"{"attr":"password","value":"<P>"}"#,
    r#"{"identifier":"ssn","value":"<S>"}"#,
    // Of few letters, and of many.
    r#"[{"k":"password","v":"<P>"}]"#,
    r#"{"settings":[{"settingName":"smtp_password","value":"<P>"}]}"#,
    r#"{"variables":[{"variableName":"ssn","value":"<S>"}]}"#,
    // FHIR.
    r#"{"identifier":[{"system":"http://hl7.org/fhir/sid/us-ssn","value":"<S>"}]}"#,
    r#"{"identifier":[{"type":{"text":"SSN"},"value":"<S>"}]}"#,
    r#"{"identifier":[{"type":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/v2-0203","code":"SS"}]},"value":"<S>"}]}"#,
    r#"{"code":{"coding":[{"code":"x-1","display":"SSN"}]},"valueString":"<S>"}"#,
    // What was changed.
    r#"[{"op":"replace","path":"/password","value":"<P>"}]"#,
    r#"{"items":[{"field":"password","fieldtype":"custom","fromString":"<P>0","toString":"<P>"}]}"#,
    r#"{"changes":[{"field":"password","from":"<P>0","to":"<P>","oldValue":"<P>1","newValue":"<P>"}]}"#,
    // Lists for each name.
    r#"{"inputs":[{"name":"ssn","datatype":"BYTES","shape":[1],"data":["<S>"]},{"name":"password","data":["<P>"]}]}"#,
    r#"{"columns":[{"name":"ssn","values":["<S>"]},{"name":"last_name","values":["<N>"]}]}"#,
    r#"{"id":"password","values":["<P>"]}"#,
    // Arguments and headers.
    r#"{"args":["--user","u","--password","<P>"]}"#,
    r#"{"args":["--ssn","<S>"]}"#,
    r#"{"headers":[["X-Auth-Password","<P>"]]}"#,
    r#"{"rawHeaders":["Host","x","X-Auth-Password","<P>"]}"#,
    // Statements and what they are given.
    r#"{"sql":"UPDATE users SET password = $1, ssn = $2 WHERE id = 1","params":["<P>","<S>"]}"#,
    r#"{"statement":"INSERT INTO users (password, ssn) VALUES (?, ?)","parameters":["<P>","<S>"]}"#,
    r#"{"text":"INSERT INTO users (password, ssn) VALUES ($1, $2)","values":["<P>","<S>"]}"#,
    r#"{"query":"UPDATE users SET last_name = %s WHERE ssn = %s","args":[["<N>","<S>"]]}"#,
    r#"{"sql":"SELECT * FROM users WHERE ssn = :1","binds":[{"val":"<S>"}]}"#,
    r#"{"sql":"SELECT * FROM users WHERE ssn = @p1","parameters":[{"value":"<S>"}]}"#,
    r#"{"type":"mysql","sql":"SELECT id FROM users WHERE ssn IN (?)","values":["<S>"]}"#,
    r#"{"query":"mutation($p: String!) { login(password: $p) { id } }","variables":{"p":"<P>"}}"#,
    r#"{"statement":"MATCH (n {ssn: $s}) RETURN n","parameters":{"s":"<S>"}}"#,
    r#"{"sql":"UPDATE users SET password = :p","parameters":[{"name":"p","value":{"stringValue":"<P>"}}]}"#,
    r#"{"query":"SELECT 1 FROM users WHERE ssn = @s","queryParameters":[{"name":"s","parameterValue":{"value":"<S>"}}]}"#,
    r#"{"query":"mutation($p: String!) { login(password: $p) { id } }","variables":"{\"p\":\"<P>\"}"}"#,
    r#"{"sql":"UPDATE users SET password = $1, ssn = $2","params":"[\"<P>\",\"<S>\"]"}"#,
    r#"{"params":"[[\"x\",\"<S>\"]]","sql":"INSERT INTO users (city, ssn) VALUES (?, ?)"}"#,
    r#"{"sql":"/*route=/login*/ SELECT 1 FROM users WHERE password = crypt($1, password)","params":["<P>"]}"#,
    r#"{"sql":"SELECT 1 FROM users WHERE ssn = ANY($1)","params":[["123","<S>"]]}"#,
    r#"{"sql":"ALTER USER u WITH PASSWORD $1","params":["<P>"]}"#,
    r#"{"query":["SELECT 1 FROM users WHERE ssn = $1","<S>"]}"#,
    r#"["UPDATE users SET password = $1",["<P>"]]"#,
    r#"{"question":"Your SSN?","answer":"<S>"}"#,
    r#"{"form":[{"value":"<S>","label":"SSN"}]}"#,
];

#[test]
fn values_are_called_by_what_stands_beside_them_in_every_shape() {
    let mut wrong = Vec::new();
    for shape in SHAPES {
        let doc = shape.replace("<P>", PASSWORD).replace("<S>", SSN).replace("<N>", NAME);
        let message = serde_json::json!({"messages": [{"role": "tool", "content": doc}]}).to_string();
        for doc in [doc, message] {
            let masked = masked(&doc);
            if [PASSWORD, SSN, NAME].iter().any(|value| masked.contains(value)) {
                wrong.push(masked);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Documents without a value.
const ORDINARY: [&str; 28] = [
    // Schemas and descriptions of tools.
    r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"Password","type":"object","properties":{"password":{"type":"string","title":"Password","description":"At least 8 characters","minLength":8,"format":"password"},"ssn":{"type":"string","pattern":"^[0-9]{9}$"}},"required":["password","ssn"]}"#,
    r#"{"openapi":"3.1.0","paths":{"/login":{"post":{"operationId":"login2","parameters":[{"name":"password","in":"query","required":true,"schema":{"type":"string"},"description":"Your password"}],"responses":{"200":{"description":"OK","content":{"application/json":{"schema":{"$ref":"x"}}}}}}}}}"#,
    r#"{"tools":[{"type":"function","function":{"name":"set_password","description":"Sets a password","parameters":{"type":"object","properties":{"password":{"type":"string"}}}}}]}"#,
    r#"{"name":"get_password","content":[{"type":"text","text":"Done, see page 2 of the list."}]}"#,
    r#"{"fields":[{"name":"password","type":"varchar(255)","nullable":true},{"name":"ssn","type":"char(9)"}],"primaryKey":["id2"]}"#,
    // Files of programs.
    r#"{"name":"passwords","version":"1.2.3","description":"Keeps passwords","keywords":["password","security2"],"scripts":{"test":"jest --coverage"},"dependencies":{"bcrypt":"^5.1.0"}}"#,
    r#"{"login.password":"Kennwort","login.title":"Anmelden","login.password.hint":"Mindestens 8 Zeichen"}"#,
    r#"[{"id":"login.password","message":"Kennwort","translation":"Password"},{"id":"login.token","text":"Token"}]"#,
    r#"{"args":["--port","8080","--password-file","/run/secrets/db","--verbose"]}"#,
    r#"{"args":["run","--rm","--password","--user","app"]}"#,
    r#"{"command":"npx","args":["-y","server-filesystem","/tmp"]}"#,
    r#"{"headers":[["Content-Type","application/json"],["Accept","text/html"]]}"#,
    // Forms that nobody has filled in.
    r#"{"type":"input","label":{"type":"plain_text","text":"Password"},"element":{"type":"plain_text_input","placeholder":{"type":"plain_text","text":"Enter password"}}}"#,
    r#"{"label":"Password","placeholder":"Enter password","text":"Required"}"#,
    r#"{"title":"Password","text":"Choose a strong password with at least 8 characters and 2 signs."}"#,
    r#"{"options":[{"value":"password","text":"Password"},{"value":"ssn","text":"Social security number"}]}"#,
    r#"{"snapshot":"- textbox \"Password\" [ref=e12]\n- button \"Sign in\" [ref=e13]"}"#,
    r#"{"term":"Password","definition":"A word that lets somebody in"}"#,
    r#"{"nodeName":"INPUT","attributes":["type","password","placeholder","Password","class","form-control2"]}"#,
    // Texts of documents and conversations.
    r#"{"results":[{"title":"Resetting your password","text":"Click the link below","url":"https://example.com/a1"}]}"#,
    r#"{"messages":[{"role":"user","content":[{"type":"text","text":"hello1"}]},{"role":"assistant","name":"password","content":"ok2day"}]}"#,
    r#"{"label":"First name","children":[{"type":"text","text":"Save"}]}"#,
    r#"{"name":"password","children":[{"text":"Reset your password"}]}"#,
    r#"{"user_id":"password_reset","type":"event","value":"Step2"}"#,
    r#"{"type":["string"],"name":"password","description":["At least 8 characters"]}"#,
    r#"{"items":[{"field":"status","fromString":"To Do","toString":"In Progress"}]}"#,
    r#"{"sql":"SELECT name, total FROM orders WHERE status = ? LIMIT ?","params":["open","25"]}"#,
    r#"{"query":"password reset?","variables":["x1y2z3"]}"#,
];

/// `admin:hunter2Zq9` in base64, a token, and a session.
const BASIC: &str = "YWRtaW46aHVudGVyMlpxOQ==";
const TOKEN: &str = "9944b09199c62bcf9418ad846dd0e4bb";
const SESSION: &str = "8f2kdl93kfjs02kd";

#[test]
fn fields_of_http_are_read_as_in_text_whatever_holds_them() {
    for doc in [
        r#"{"headers":{"Authorization":"Basic <B>"}}"#,
        r#"{"headers":{"authorization":"<T>"}}"#,
        r#"{"headers":{"Authorization":["Basic <B>"]}}"#,
        r#"{"headers":[{"name":"Authorization","value":"Basic <B>"}]}"#,
        r#"{"header":[{"key":"Proxy-Authorization","value":"Negotiate <T>"}]}"#,
        r#"{"headers":[["Authorization","Basic <B>"]]}"#,
        r#"{"header":["Authorization","Basic <B>"]}"#,
        r#"["Authorization","Basic <B>"]"#,
        r#"{"rawHeaders":["Host","x","Authorization","Basic <B>"]}"#,
        r#"{"columns":["id","Authorization"],"rows":[["7","Basic <B>"]]}"#,
        r#"{"environ":{"HTTP_AUTHORIZATION":"Basic <B>"}}"#,
        r#"{"auth":"Basic <B>"}"#,
        r#"{"headers":{"Cookie":"theme=dark; auth=<S>"}}"#,
        r#"{"headers":[["Cookie","theme=dark; auth=<S>"]]}"#,
        r#"["Cookie","sid=<S>"]"#,
        r#"{"headers":{"Set-Cookie":["auth=<S>; Path=/; HttpOnly"]}}"#,
    ] {
        let doc = doc.replace("<B>", BASIC).replace("<T>", TOKEN).replace("<S>", SESSION);
        let masked = masked(&doc);
        assert!(![BASIC, TOKEN, SESSION].iter().any(|value| masked.contains(value)), "{masked}");
    }
}

#[test]
fn the_names_of_attributes_say_which_field_of_http_they_hold() {
    let doc = r#"{"key":"http.request.header.authorization","value":{"arrayValue":{"values":[{"stringValue":"Bearer opaque-9x8y7z"}]}}}"#;
    assert!(!masked(doc).contains("opaque-9x8y7z"), "{}", masked(doc));
}

#[test]
fn a_word_is_a_password_where_a_type_alone_stands_between() {
    for doc in [r#"{"password":{"S":"autumn"}}"#, r#"{"password":{"stringValue":"autumn"}}"#] {
        assert!(!masked(doc).contains("autumn"), "{doc}");
    }
    let doc = r#"{"sizes":{"S":"autumn"},"wind":{"N":"autumn"}}"#;
    assert_eq!(masked(doc), doc);
}

#[test]
fn fields_of_http_without_credentials_stay() {
    for doc in [
        r#"{"authorization":"required"}"#,
        r#"{"authorization":"Bearer <token>","auth":"Basic"}"#,
        r#"{"prior_authorization":"PA-2024-889123","authorization":"Approved 2024-09-11"}"#,
        r#"{"AllowHeaders":["Authorization","x-amz-content-sha256"]}"#,
        r#"{"authorization":{"type":"oauth2-client-credentials","flow":"Token based"}}"#,
        r#"{"cookies":"We use cookies for x=1; theme=dark"}"#,
        r#"{"Cookie":"theme=dark; lang=en"}"#,
        r#"{"title":"Cookies","text":"Accept all cookies"}"#,
    ] {
        assert_eq!(masked(doc), doc);
    }
}

#[test]
fn documents_without_values_stay() {
    let changed: Vec<String> = ORDINARY
        .into_iter()
        .map(masked)
        .zip(ORDINARY)
        .filter(|(masked, doc)| masked != doc)
        .map(|(masked, _)| masked)
        .collect();
    assert!(changed.is_empty(), "\n{}", changed.join("\n"));
}

#[test]
fn codes_of_countries_and_provinces_name_no_numbers() {
    for doc in [
        r#"{"data":[{"code":"NI","value":"6850540"},{"code":"NL","value":"17590672"}]}"#,
        r#"{"data":[{"id":"NI","value":6850540},{"name":"NI","value":"6850540"}]}"#,
        r#"{"name":"MR","values":[4649658,4775110]}"#,
        r#"{"code":"SS","value":"112341234"}"#,
        r#"{"code":"DL","value":"40123456"}"#,
        r#"{"label":"AN","value":"6850540"}"#,
    ] {
        assert_eq!(masked(doc), doc);
    }
}

#[test]
fn names_of_what_is_ordered_say_nothing() {
    let doc = r#"{"form":[{"value":"536228742","label":"Order"},{"name":"REGION","value":"k7%Vq2x9"}]}"#;
    assert_eq!(masked(doc), doc);
}

/// However deep in a document they lie.
#[test]
fn names_are_read_at_any_depth() {
    for (doc, value) in [
        (r#"{"name":"DB_PASSWORD","value":"hunter2Zq9"}"#, PASSWORD),
        (r#"{"columns":["id","ssn"],"rows":[["7","536228741"],["8","1"]]}"#, SSN),
        (r#"{"sql":"UPDATE users SET ssn = $1","params":["536228741"]}"#, SSN),
    ] {
        let deep = format!("{}{doc}{}", r#"{"a":["#.repeat(40), "]}".repeat(40));
        assert!(!masked(&deep).contains(value), "{doc}");
    }
}
