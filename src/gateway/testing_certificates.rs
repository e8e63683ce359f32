//! For tests: certificates, as DER in base64. One key has signed all of them.

use data_encoding::BASE64;

/// All kinds of names, the least first.
pub(super) const AGENT: &str = "\
    MIIBLTCB4KADAgECAgEBMAUGAytlcDANMQswCQYDVQQDDAJjYTAgFw0yMDAxMDEwMDAwMDBaGA8yMTI2MDEwMTAwMDAwMFowEDEO\
    MAwGA1UEAwwFYWdlbnQwKjAFBgMrZXADIQDqSmxj4pxSCr71UHsTLsX5lUd2rr6+e5JCHuppFEbSLKNgMF4wXAYDVR0RBFUwU4EQ\
    SmFuZUBFWEFNUExFLmNvbYcEwAACAYISQWdlbnQuRXhhbXBsZS5jb20uhhpzcGlmZmU6Ly9leGFtcGxlLmNvbS9BZ2VudIYJdXJu\
    Om90aGVyMAUGAytlcANBANFN6ojP7OFZuTaOsHAwUHuqMrj7lzdifDYtk7mHT8GuVtTK0iY8uxG9xUIQkgZy05O8PSTLhwOl2XfA\
    lXfH5wM=";

/// A common name alone, with characters that no header has.
pub(super) const PERSON: &str = "\
    MIHYMIGLoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAdMRsw\
    GQYDVQQDDBJKYW5lIETDtmUgNSUNCng6IHkwKjAFBgMrZXADIQDqSmxj4pxSCr71UHsTLsX5lUd2rr6+e5JCHuppFEbSLDAFBgMr\
    ZXADQQA2qjry5prddB97BCW4AHC6FrclSWXMohb2jwZz5+72igZ/M9GPmM+Lp631KoAUMfmDK5uV04YP7ZwNW9sqF38N";

/// Two common names, and no other name.
pub(super) const TWO_COMMON: &str = "\
    MIHZMIGMoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAeMQ0w\
    CwYDVQQDDARqYW5lMQ0wCwYDVQQDDARyb290MCowBQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iwwBQYD\
    K2VwA0EA+Zkwga9SrpSEEXMtp+cQXr9QLDNH+UgxI35Pl9ciN1FWIB6CNVS4vyMTdDc5ib6fCZAKgBheELu+PjJTUEOBDw==";

/// No name but an address.
pub(super) const ADDRESS: &str = "\
    MIHQMIGDoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAAMCow\
    BQYDK2VwAyEA6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iyjEzARMA8GA1UdEQQIMAaHBMAAAgEwBQYDK2VwA0EAW3O5\
    tVEXhIBo4/reEdqzWItbE7Y0zE/YcwA2aH4kSOQ/jSvH+M50YoscqLb9WbotcbpMLADoCuWh/NBHK3QlCA==";

/// A DNS name with a space in it, and a common name.
pub(super) const SPACE: &str = "\
    MIHfMIGSoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAQMQ4w\
    DAYDVQQDDAVhZ2VudDAqMAUGAytlcAMhAOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIsoxIwEDAOBgNVHREEBzAFggNh\
    IGIwBQYDK2VwA0EAdIIuzLa5wap+3c71VvoDNiOHUwUI8JqHR3I5o+s98z+RL2OjENIbw7ocD+QwwBYUhDcoA9mQbTs7cWNo+Zx0\
    Ag==";

/// An empty URI, and a common name.
pub(super) const EMPTY: &str = "\
    MIHcMIGPoAMCAQICAQEwBQYDK2VwMA0xCzAJBgNVBAMMAmNhMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAQMQ4w\
    DAYDVQQDDAVhZ2VudDAqMAUGAytlcAMhAOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIsow8wDTALBgNVHREEBDAChgAw\
    BQYDK2VwA0EAtWDtMJ2DI4r7Kp6482qma7Pj5fngBy46EwUxzTJZq9pdyMOBXpDrp8q0At1cttEDwQgLiU91wcS13YtIB7SbBQ==";

/// Good until the end of 2020.
pub(super) const EXPIRED: &str = "\
    MIHGMHqgAwIBAgIBATAFBgMrZXAwDTELMAkGA1UEAwwCY2EwHhcNMjAwMTAxMDAwMDAwWhcNMjAxMjMxMjM1OTU5WjAOMQwwCgYD\
    VQQDDANvbGQwKjAFBgMrZXADIQDqSmxj4pxSCr71UHsTLsX5lUd2rr6+e5JCHuppFEbSLDAFBgMrZXADQQCJ0ko4EmlZ8CVpPMHt\
    zqXhXYuwooArDZEgGmtJm81QGV0swwlRUSgs1HS59b2q4TC7NmJIF41O32oBcM+wzC8H";

/// Its bytes.
pub(super) fn der(certificate: &str) -> Vec<u8> {
    BASE64.decode(certificate.as_bytes()).unwrap()
}
