//! Tables in JSON: shapes of many programs, in which the cells are found under their heads; and what is no table.

use crate::redact::fixture::masked;

const VALUES: [&str; 5] = ["536228741", "C01X00T47", "004412339871", "Okonkwo-Adeyemi", "k7%Vq2x"];
const NAMES: [&str; 6] = ["id", "ssn", "passport_number", "bank_account_number", "last_name", "password"];

/// A list of what `element` makes of each, by its number.
fn list(all: &[&str], element: &dyn Fn(&str) -> String) -> String {
    let all: Vec<String> = all.iter().map(|one| element(one)).collect();
    format!("[{}]", all.join(","))
}

/// (shape, heads, cells): `@` stands for the list of heads, `#` for that of the cells; in theirs, for one of them.
const SHAPES: [(&str, &str, &str); 37] = [
    // Strings for heads.
    (r#"{"columns":@,"rows":[#,#]}"#, r#""@""#, r##""#""##),
    (r#"{"fields":@,"data":{"rows":[#]}}"#, r#""@""#, r##""#""##),
    (r#"[@,#,#]"#, r#""@""#, r##""#""##),
    (r#"{"columnHeaders":@,"rows":[#]}"#, r#""@""#, r##""#""##),
    (r#"{"headings":@,"rows":[#]}"#, r#""@""#, r##""#""##),
    (r#"{"thead":@,"tbody":[#]}"#, r#""@""#, r##""#""##),
    // pandas, InfluxDB, Pinot, Cypher over HTTP, Salesforce.
    (r#"{"columns":@,"index":[0],"data":[#]}"#, r#""@""#, r##""#""##),
    (r#"{"series":[{"name":"cpu","columns":@,"values":[#]}]}"#, r#""@""#, r##""#""##),
    (r#"{"resultTable":{"dataSchema":{"columnNames":@},"rows":[#]}}"#, r#""@""#, r##""#""##),
    (r#"{"results":[{"columns":@,"data":[{"row":#,"meta":[null]}]}]}"#, r#""p.@""#, r##""#""##),
    (r#"{"keys":@,"values":#}"#, r#""n.@""#, r##""#""##),
    (
        r#"{"reportMetadata":{"detailColumns":@},"factMap":{"T!T":{"rows":[{"dataCells":#}]}}}"#,
        r#""@""#,
        r##"{"label":"#","value":"#"}"##,
    ),
    // Objects for heads: ES|QL and SQL of Elasticsearch, Trino, ClickHouse, HANA, node-postgres.
    (r#"{"columns":@,"values":[#]}"#, r#"{"name":"@","type":"keyword"}"#, r##""#""##),
    (r#"{"columns":@,"rows":[#]}"#, r#"{"name":"@","type":"text"}"#, r##""#""##),
    (r#"{"columns":@,"data":[#]}"#, r#"{"name":"@","type":"varchar"}"#, r##""#""##),
    (r#"{"meta":@,"data":[#],"rows":1}"#, r#"{"name":"@","type":"String"}"#, r##""#""##),
    (r#"{"metaData":@,"rows":[#]}"#, r#"{"name":"@"}"#, r##""#""##),
    (r#"{"command":"SELECT","rows":[#],"fields":@}"#, r#"{"name":"@","tableID":1}"#, r##""#""##),
    // Log Analytics, Kusto in both versions.
    (
        r#"{"tables":[{"name":"PrimaryResult","columns":@,"rows":[#]}]}"#,
        r#"{"name":"@","type":"string"}"#,
        r##""#""##,
    ),
    (
        r#"{"Tables":[{"TableName":"T","Columns":@,"Rows":[#]}]}"#,
        r#"{"ColumnName":"@","DataType":"String"}"#,
        r##""#""##,
    ),
    (r#"[{"FrameType":"DataTable","Columns":@,"Rows":[#]}]"#, r#"{"ColumnName":"@"}"#, r##""#""##),
    // BigQuery, Snowflake, Databricks, Livy, Socrata.
    (r#"{"schema":{"fields":@},"rows":[{"f":#}]}"#, r#"{"name":"@","type":"STRING"}"#, r##"{"v":"#"}"##),
    (r#"{"resultSetMetaData":{"rowType":@},"data":[#]}"#, r#"{"name":"@","type":"text"}"#, r##""#""##),
    (
        r#"{"manifest":{"schema":{"columns":@}},"result":{"data_array":[#]}}"#,
        r#"{"name":"@","position":0}"#,
        r##""#""##,
    ),
    (r#"{"schema":{"type":"struct","fields":@},"data":[#]}"#, r#"{"name":"@"}"#, r##""#""##),
    (r#"{"meta":{"view":{"columns":@}},"data":[#]}"#, r#"{"id":-1,"name":"@"}"#, r##""#""##),
    // Athena, with its heads and with the first row for heads; RDS; libSQL.
    (
        r#"{"ResultSet":{"Rows":[{"Data":#}],"ResultSetMetadata":{"ColumnInfo":@}}}"#,
        r#"{"Name":"@","Type":"varchar"}"#,
        r##"{"VarCharValue":"#"}"##,
    ),
    (
        r#"{"ResultSet":{"Rows":[{"Data":@},{"Data":#}]}}"#,
        r#"{"VarCharValue":"@"}"#,
        r##"{"VarCharValue":"#"}"##,
    ),
    (
        r#"{"columnMetadata":@,"records":[#]}"#,
        r#"{"name":"@","label":"@","typeName":"varchar"}"#,
        r##"{"stringValue":"#"}"##,
    ),
    (r#"{"cols":@,"rows":[#]}"#, r#"{"name":"@","decltype":"TEXT"}"#, r##"{"type":"text","value":"#"}"##),
    // Metabase, Grafana, GA4, charts and sheets of Google, Smartsheet.
    (r#"{"data":{"rows":[#],"cols":@}}"#, r#"{"name":"@","display_name":"@"}"#, r##""#""##),
    (
        r#"{"frames":[{"schema":{"fields":@},"data":{"values":#}}]}"#,
        r#"{"name":"@","type":"string"}"#,
        r##"["x","#"]"##,
    ),
    (
        r#"{"dimensionHeaders":@,"metricHeaders":[{"name":"users"}],"rows":[{"dimensionValues":#,"metricValues":[{"value":"1"}]}]}"#,
        r#"{"name":"@"}"#,
        r##"{"value":"#"}"##,
    ),
    (r#"{"cols":@,"rows":[{"c":#}]}"#, r#"{"id":"A1","label":"@","type":"string"}"#, r##"{"v":"#"}"##),
    (
        r#"{"sheets":[{"data":[{"rowData":[{"values":@},{"values":#}]}]}]}"#,
        r#"{"userEnteredValue":{"stringValue":"@"},"formattedValue":"@"}"#,
        r##"{"effectiveValue":{"stringValue":"#"},"formattedValue":"#"}"##,
    ),
    (r#"{"columns":@,"rows":[{"cells":#}]}"#, r#"{"id":7,"title":"@"}"#, r##"{"columnId":7,"value":"#"}"##),
    // Servers of models: a list for each column.
    (r#"{"columns":@,"inputs":#}"#, r#""@""#, r##"{"name":"?","datatype":"BYTES","data":["#"]}"##),
];

/// The document of a shape.
fn shaped(shape: &str, head: &str, cell: &str) -> String {
    let cells = [&["7"], VALUES.as_slice()].concat();
    let mut names = NAMES.iter();
    let mut filled = |value: &str| {
        let name = names.next().copied().unwrap_or_default();
        cell.replace('#', value).replace('?', name)
    };
    let named: Vec<String> = cells.iter().map(|value| filled(value)).collect();
    let heads = list(&NAMES, &|name| head.replace('@', name));
    shape.replace('@', &heads).replace('#', &format!("[{}]", named.join(",")))
}

#[test]
fn cells_are_found_under_their_heads_in_every_shape() {
    let mut wrong = Vec::new();
    for (shape, head, cell) in SHAPES {
        let doc = shaped(shape, head, cell);
        // As a document, and as the text of a message.
        let message = serde_json::json!({"messages": [{"role": "tool", "content": doc}]}).to_string();
        for doc in [doc, message] {
            let masked = masked(&doc);
            let left: Vec<&&str> = VALUES.iter().filter(|value| masked.contains(**value)).collect();
            if !left.is_empty() || !masked.contains("<US_SSN>") {
                wrong.push(format!("{left:?} in {masked}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_table_stays() {
    for doc in [
        r#"{"columns":["id","order"],"rows":[["7","536228741"]]}"#,
        r#"{"columns":[{"name":"id"},{"name":"order"}],"rows":[["7","536228741"]]}"#,
        r#"[["7","ssn"],["8","536228741"]]"#,
        r#"[{"columns":["id","ssn"]}]"#,
        // Pairs whose first begins with the name of a secret, or of a person's.
        r#"{"sort":[["password","asc"],["remember","desc"]]}"#,
        r#"{"edges":[["password","reset"],["reset","mail"],["login","home"]]}"#,
        r#"{"translations":[["password","Passwort"],["window","Fenster"],["house","Haus"]]}"#,
        r#"{"rows":[["First name","Unknown"],["Street","None"],["Reason","Holiday"]]}"#,
        // Options of a field are not in its column, nor is what is not called a row.
        r#"{"fields":[{"name":"password"},{"name":"country","options":["Sweden1","Norway2"]}]}"#,
        r#"{"fields":[{"name":"password"},{"name":"email"}],"layout":[["Account1","Contact2"]]}"#,
        r#"{"columns":[{"name":"password"},{"name":"email"}],"rows":[{"tags":["x1y2z3a4b5"]}]}"#,
    ] {
        assert_eq!(masked(doc), doc);
    }
}

#[test]
fn names_of_pairs_stay_where_the_first_is_a_secret() {
    let doc = r#"[["password","hunter2Zq9"],["remember","true"],["language","english"],["theme","dark"]]"#;
    assert_eq!(masked(doc), doc.replace("hunter2Zq9", "<PASSWORD>"));
}

#[test]
fn two_columns_are_a_table_under_two_labels() {
    for (doc, value) in [
        (r#"[["id","ssn"],["7","536228741"]]"#, "536228741"),
        (r#"{"data":[["user","password"],["bob","sunflower7"]]}"#, "sunflower7"),
        (r#"{"data":[["password","user"],["hunter2Zq9","bob"]]}"#, "hunter2Zq9"),
        (r#"{"data":[["First name","Last name"],["Kwabena","Okonkwo-Adeyemi"]]}"#, "Okonkwo-Adeyemi"),
    ] {
        assert!(!masked(doc).contains(value), "{doc}");
    }
}

#[test]
fn each_table_has_its_own_heads() {
    let doc = r#"[{"columns":["id","ssn"],"rows":[["7","536228741"]]},{"columns":["id","order"],"rows":[["7","536228742"]]},{"columns":[{"name":"ssn"}],"rows":[["536228743"]]}]"#;
    let masked = masked(doc);
    assert!(!masked.contains("536228741") && !masked.contains("536228743"), "{masked}");
    assert!(masked.contains("536228742"), "{masked}");
}

#[test]
fn many_tables_and_cells_take_little_time() {
    let tables: Vec<String> = (0..3000)
        .map(|n| format!(r#"{{"columns":["id","order"],"rows":[["{n}","a"],["{n}","b"]]}}"#))
        .collect();
    let doc = format!("[{}]", tables.join(","));
    assert_eq!(masked(&doc), doc);
}
