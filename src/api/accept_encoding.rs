//! Which content coding an answer may be put into, by what its caller accepts (RFC 9110 section 12.5.3).

use http::HeaderMap;
use http::header::ACCEPT_ENCODING;

use crate::stream::codec::Coding;

/// How much is wanted at the most, in thousandths (RFC 9110 section 12.4.2).
const MOST: u16 = 1000;

/// Weights that a head gives to codings.
#[derive(Default)]
struct Weights {
    named: Vec<(String, u16)>,
    /// `*`: of all that it does not name.
    others: Option<u16>,
}

/// The coding of `offered` that the caller wants most; of several that it wants alike the first. `None`: none is better
/// than no coding at all. Who says nothing about codings may not know them.
pub fn preferred(headers: &HeaderMap, offered: &[Coding]) -> Option<Coding> {
    let weights = Weights::of(headers);
    let weighed = offered.iter().map(|coding| (*coding, weights.coding(*coding)));
    let best = weighed
        .filter(|(_, weight)| *weight > 0)
        .reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.filter(|(_, weight)| *weight >= weights.identity()).map(|(coding, _)| coding)
}

impl Weights {
    fn of(headers: &HeaderMap) -> Self {
        let mut weights = Self::default();
        let lines = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        for item in lines.flat_map(|line| line.split(',')) {
            let mut parts = item.split(';').map(str::trim);
            let name = parts.next().unwrap_or_default().to_ascii_lowercase();
            // What cannot be read is no leave to send it.
            let weight =
                parts.next().map_or(Some(MOST), weight).filter(|_| parts.next().is_none()).unwrap_or(0);
            match name.as_str() {
                "" => {}
                "*" => weights.others = Some(weight),
                _ => weights.named.push((name, weight)),
            }
        }
        weights
    }

    fn named(&self, name: &str) -> Option<u16> {
        // Of a name that comes twice, the more careful word counts.
        self.named.iter().filter(|(named, _)| named == name).map(|(_, weight)| *weight).min()
    }

    fn coding(&self, coding: Coding) -> u16 {
        let alias = (coding == Coding::Gzip).then_some("x-gzip").and_then(|alias| self.named(alias));
        self.named(coding.name()).or(alias).or(self.others).unwrap_or(0)
    }

    /// Of no coding at all: it is welcome only as far as it is named. `*` is not meant to name it where a coding is.
    fn identity(&self) -> u16 {
        self.named("identity").unwrap_or(0)
    }
}

/// Reads `q=` and a number from 0 to 1 with at most three places.
fn weight(parameter: &str) -> Option<u16> {
    let (name, value) = parameter.split_once('=')?;
    let (whole, places) = value.split_once('.').unwrap_or((value, ""));
    let fine = name.eq_ignore_ascii_case("q") && matches!(whole, "0" | "1") && places.len() <= 3;
    if !fine || !places.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let thousandths: u16 = format!("{whole}{places:0<3}").parse().ok()?;
    Some(thousandths).filter(|weight| *weight <= MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coding_that_is_wanted_most_is_taken() {
        use Coding::{Br, Gzip, Zstd};
        let rows: [(&[&str], Option<Coding>); 33] = [
            (&[], None),
            (&[""], None),
            (&["gzip"], Some(Gzip)),
            (&["GZip"], Some(Gzip)),
            (&["x-gzip"], Some(Gzip)),
            (&["gzip, deflate"], Some(Gzip)),
            (&["gzip, deflate, br, zstd"], Some(Zstd)),
            (&["gzip, br"], Some(Br)),
            (&["gzip", "br"], Some(Br)),
            (&["gzip;q=1.0, br;q=0.9, zstd;q=0.1"], Some(Gzip)),
            (&["gzip;q=0.5,br;Q=0.501"], Some(Br)),
            (&["gzip ; q=0.5"], Some(Gzip)),
            (&["gzip;q=0"], None),
            (&["gzip;q=0.000, br;q=0.001"], Some(Br)),
            (&["*"], Some(Zstd)),
            (&["*;q=0"], None),
            (&["zstd;q=0, *;q=0.5"], Some(Br)),
            (&["gzip, *;q=0"], Some(Gzip)),
            (&["identity"], None),
            (&["identity, gzip;q=0.5"], None),
            (&["identity;q=0.5, gzip;q=0.5"], Some(Gzip)),
            (&["identity;q=0, gzip;q=0.1"], Some(Gzip)),
            (&["identity;q=0"], None),
            (&["deflate"], None),
            (&["compress, sdch"], None),
            (&["gzip;q=2"], None),
            (&["gzip;q=1.001"], None),
            (&["gzip;q=-1"], None),
            (&["gzip;q=0.1234"], None),
            (&["gzip;q=", "br;level=4"], None),
            (&["gzip;q=1;x=y"], None),
            (&["gzip;q=0, gzip"], None),
            (&["gzip, gzip;q=0"], None),
        ];
        for (lines, want) in rows {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(ACCEPT_ENCODING, line.parse().unwrap());
            }
            assert_eq!(preferred(&headers, &[Zstd, Br, Gzip]), want, "{lines:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, "gzip, br, zstd".parse().unwrap());
        assert_eq!(preferred(&headers, &[Gzip]), Some(Gzip));
        assert_eq!(preferred(&headers, &[]), None);
    }
}
