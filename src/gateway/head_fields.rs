//! [`HeadFields`]: the fields of a head, whoever's. Those of Pingora's heads know beside their values how names were spelled,
//! so they are changed by the head alone.

use http::{HeaderMap, HeaderName, HeaderValue};
use pingora::http::ResponseHeader;

/// A head whose fields can be changed.
pub(super) trait HeadFields {
    /// All of them.
    fn fields(&self) -> &HeaderMap;

    /// Puts a field in the place of all of this name.
    fn put(&mut self, name: &HeaderName, value: HeaderValue);

    /// Adds a field to those of this name.
    fn add(&mut self, name: &HeaderName, value: HeaderValue);

    /// Takes all fields of this name away.
    fn take(&mut self, name: &HeaderName);
}

impl HeadFields for HeaderMap {
    fn fields(&self) -> &HeaderMap {
        self
    }

    fn put(&mut self, name: &HeaderName, value: HeaderValue) {
        self.insert(name.clone(), value);
    }

    fn add(&mut self, name: &HeaderName, value: HeaderValue) {
        self.append(name.clone(), value);
    }

    fn take(&mut self, name: &HeaderName) {
        self.remove(name);
    }
}

// Of names and values that are well-formed already, no change fails.
impl HeadFields for ResponseHeader {
    fn fields(&self) -> &HeaderMap {
        &self.headers
    }

    fn put(&mut self, name: &HeaderName, value: HeaderValue) {
        drop(self.insert_header(name, value));
    }

    fn add(&mut self, name: &HeaderName, value: HeaderValue) {
        drop(self.append_header(name, value));
    }

    fn take(&mut self, name: &HeaderName) {
        self.remove_header(name);
    }
}
