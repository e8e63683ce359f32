//! Tables in a text: rows of cells under heads, as spreadsheets, databases and documents write them. What a column is called is
//! context of each of its cells, however far below.
//!
//! | file | noun |
//! |---|---|
//! | `row` | [`RowReader`](row::RowReader): who is shown rows; cells and what may be their heads |
//! | `first_row` | [`FirstRow`]: the first of rows of two cells, which are heads or a pair like the others |
//! | `delimited` | rows that are lines, whose cells may have several |
//! | `unprefixed_lines` | lines without what stands before each of them |
//! | `sql` | rows in statements of SQL |
//! | `sql_lists` | lists in those statements |
//! | `sql_tables` | the columns of the tables that they make |
//! | `html` | rows of elements |
//! | `manifest` | members of manifests that hold secrets |
//! | `segments` | fields of messages, known by their places |
//! | `snapshot` | fields of forms, as programs that drive browsers show them |
//! | `placeholders` | [`PlacedColumns`]: those whose values come beside a statement of SQL |
//! | `column` | [`with_cells`]: what is found in cells, each under its head |

mod column;
mod delimited;
mod first_row;
mod html;
mod manifest;
mod placeholders;
mod row;
mod segments;
mod snapshot;
mod sql;
mod sql_lists;
mod sql_tables;
mod unprefixed_lines;

pub(super) use column::{has_columns, with_cells};
pub(super) use first_row::FirstRow;
pub(super) use placeholders::PlacedColumns;
pub(super) use row::{CELLS, is_head, subject};

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::row::RowReader;
    use super::{delimited, html, sql};

    /// The rows of all tables, as pairs of head and cell.
    #[derive(Default)]
    struct Pairs<'t> {
        text: &'t str,
        heads: Vec<&'t str>,
        rows: Vec<Vec<(&'t str, &'t str)>>,
    }

    impl RowReader for Pairs<'_> {
        fn heads(&mut self, row: &[Range<usize>]) {
            self.heads = row.iter().map(|head| self.text.get(head.clone()).unwrap()).collect();
        }

        fn row(&mut self, row: &[Range<usize>]) {
            let cells = row.iter().map(|cell| self.text.get(cell.clone()).unwrap());
            self.rows.push(self.heads.iter().copied().zip(cells).collect());
        }
    }

    fn rows(text: &str) -> Vec<Vec<(&str, &str)>> {
        let mut pairs = Pairs { text, ..Pairs::default() };
        delimited::read(text, &mut pairs);
        sql::read(text, &mut pairs);
        html::read(text, &mut pairs);
        pairs.rows
    }

    #[test]
    fn cells_stand_under_their_heads_in_every_kind_of_table() {
        let expected = vec![("id", "2"), ("full name", "Doe, Jane"), ("ssn", "536-22-8741")];
        let tables = [
            "id,full name,ssn\n1,x,y\n2,\"Doe, Jane\",536-22-8741\n",
            "id,full name,ssn\n1,\"say \"\"hi\"\", ok\",y\n2,\"Doe, Jane\",536-22-8741\n",
            "id,full name,ssn\n1,\"a \"\"b\"\"\nc\",y\n2,\"Doe, Jane\",536-22-8741\n",
            "id;full name;ssn\r\n1;x;y\r\n2;\"Doe, Jane\";\"536-22-8741\"\r\n",
            "id\tfull name\tssn\n1\tx\ty\n2\tDoe, Jane\t536-22-8741",
            "Here:\n\n| id | full name | ssn |\n|---|:---:|---|\n| 1 | x | y |\n| 2 | Doe, Jane | `536-22-8741` |\n\nDone.",
            " id | full name |     ssn\n----+-----------+-------------\n  1 | x | y\n  2 | Doe, Jane | 536-22-8741\n(2 rows)\n",
            "+----+-----------+-------------+\n| id | full name | ssn |\n+----+-----------+-------------+\n| 2 | Doe, Jane | 536-22-8741 |\n+----+---+---+\n",
            "id  full name    ssn\n1   x            y\n2   Doe, Jane    536-22-8741\n",
            "   id  full name          ssn\n0   1          x            y\n1   2  Doe, Jane  536-22-8741\n",
            "INSERT INTO people (id, \"full name\", ssn) VALUES (1, 'x', 'y'),\n (2, 'Doe, Jane', '536-22-8741');",
            "insert into `people` (`id`, `full name`, `ssn`)\nvalues (2, 'Doe, Jane', '536-22-8741')",
            "COPY public.people (id, \"full name\", ssn) FROM stdin;\n1\tx\ty\n2\tDoe, Jane\t536-22-8741\n\\.\n",
            "<table><tr><th>id</th><th class=a>full name</th><th>ssn</th></tr><tr><td>2</td><td>Doe, Jane</td><td>536-22-8741</td></tr></table>",
            "<TABLE>\n<TR><TD>id<TD>full name<TD>ssn\n<TR><TD>2<TD>Doe, Jane<TD>536-22-8741\n</TABLE>",
        ];
        for text in tables {
            assert!(rows(text).contains(&expected), "{text}: {:?}", rows(text));
        }
    }

    #[test]
    fn prose_and_code_are_no_tables() {
        for text in [
            "Dear Anna, thank you.\nBest regards, Ben",
            "one line, with commas",
            "a = f(x, y)\nb = g(x, y)",
            "1,2,3\n4,5,6\n",
            "{\"a\": 1, \"b\": 2}\n{\"a\": 3, \"b\": 4}",
            "",
            "\n\n\n",
            "name,ssn",
            "name,\"ssn\n1,2",
            "SMTP_PASSWORD:  autumn9leaf\nRAILS_ENV:      production\n",
            "Password:\tx9Lq2zzz\nHostname:\tweb1\n",
            "INSERT INTO t (a, b",
            "COPY that (a, b) and\nmore\ttext",
            "<tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr>",
        ] {
            assert_eq!(rows(text), Vec::<Vec<(&str, &str)>>::new(), "{text}");
        }
    }
}
