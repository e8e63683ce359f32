//! [`Form`]: names and values, as a browser sends them in a body of `application/x-www-form-urlencoded` and in a query
//! (WHATWG URL section 5).

use crate::base::secret::Secret;

/// The most fields that are read: a check box for each of some thousand routes, and what else a form has.
const MOST: usize = 4096;

/// What was sent has more fields than are read. None of them is: a form without the rest of its fields would say something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The form has more than {MOST} fields, which is more than are read: nothing was done.")]
pub(super) struct TooManyFields;

/// What was sent, in order.
#[derive(Clone, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a body or a query; what is no UTF-8 reads as U+FFFD.
    ///
    /// # Errors
    /// [`TooManyFields`].
    pub(super) fn read(sent: &[u8]) -> Result<Self, TooManyFields> {
        let mut fields = Vec::new();
        for (name, value) in form_urlencoded::parse(sent) {
            if fields.len() == MOST {
                return Err(TooManyFields);
            }
            fields.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(fields))
    }

    /// The first value of this name without white space around it; empty if there is none.
    pub(super) fn text(&self, name: &str) -> &str {
        self.exact(name).trim()
    }

    /// The same with what is around it.
    pub(super) fn exact(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str())
    }

    /// The value of this name, which may be secret.
    pub(super) fn secret(&self, name: &str) -> Secret<String> {
        Secret::new(self.text(name).to_owned())
    }

    /// All values of this name that are not empty: of check boxes, and of texts with a value on each line.
    pub(super) fn list(&self, name: &str) -> Vec<&str> {
        self.lines(name).map(str::trim).filter(|value| !value.is_empty()).collect()
    }

    /// The same with blanks around them.
    pub(super) fn lines(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = self.0.iter().filter(move |(known, _)| known == name);
        values.flat_map(|(_, value)| value.lines()).filter(|line| !line.is_empty())
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
        let sent = b"name=J%C3%BCrgen+Vo%26gel&route=a&route=b%0D%0A%0D%0A+c+&empty=&bad=%zz%ff&blank=+x+";
        let form = Form::read(sent).unwrap();
        assert_eq!(form.text("name"), "J\u{fc}rgen Vo&gel");
        assert_eq!(form.list("route"), ["a", "b", "c"]);
        assert_eq!(form.lines("route").collect::<Vec<_>>(), ["a", "b", " c "]);
        assert_eq!((form.text("empty"), form.text("none")), ("", ""));
        assert_eq!((form.text("blank"), form.exact("blank")), ("x", " x "));
        assert_eq!(form.text("bad"), "%zz\u{fffd}");
        assert_eq!(format!("{form:?}"), "Form(6 fields)");
    }

    #[test]
    fn fields_without_number_are_refused_and_none_is_left_out() {
        let fields = |count: usize| "a=1&".repeat(count);
        assert_eq!(Form::read(fields(MOST).as_bytes()).unwrap().list("a").len(), MOST);
        assert_eq!(Form::read(fields(MOST + 1).as_bytes()).err(), Some(TooManyFields));
        assert_eq!(Form::read(&b"&".repeat(10_000)).unwrap().list("").len(), 0, "what is between is none");
    }
}
