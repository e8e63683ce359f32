//! [`Form`]: names and values, as a browser sends them in a body of `application/x-www-form-urlencoded` and in a query
//! (WHATWG URL section 5).

use crate::base::secret::Secret;

/// The most fields that are read; those behind them are not there.
const MOST: usize = 256;

/// What was sent, in order.
#[derive(Clone, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a body or a query; what is no UTF-8 reads as U+FFFD.
    pub(super) fn read(sent: &[u8]) -> Self {
        let fields = form_urlencoded::parse(sent).take(MOST);
        Self(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The first value of this name without white space around it; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.trim())
    }

    /// The value of this name, which may be secret.
    pub(super) fn secret(&self, name: &str) -> Secret<String> {
        Secret::new(self.text(name).to_owned())
    }

    /// All values of this name that are not empty: of check boxes, and of texts with a value on each line.
    pub(super) fn list(&self, name: &str) -> Vec<&str> {
        let values = self.0.iter().filter(|(known, _)| known == name);
        values.flat_map(|(_, value)| value.lines()).map(str::trim).filter(|value| !value.is_empty()).collect()
    }
}

impl std::fmt::Debug for Form {
    // It may hold a token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Form({} fields)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_write_them() {
        let form = Form::read(b"name=J%C3%BCrgen+Vo%26gel&route=a&route=b%0D%0A%0D%0Ac&empty=&bad=%zz%ff");
        assert_eq!(form.text("name"), "J\u{fc}rgen Vo&gel");
        assert_eq!(form.list("route"), ["a", "b", "c"]);
        assert_eq!((form.text("empty"), form.text("none")), ("", ""));
        assert_eq!(form.text("bad"), "%zz\u{fffd}");
        assert_eq!(format!("{form:?}"), "Form(5 fields)");
    }

    #[test]
    fn fields_without_number_take_a_bounded_room() {
        assert_eq!(Form::read("a=1&".repeat(10_000).as_bytes()).list("a").len(), MOST);
    }
}
