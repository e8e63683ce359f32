//! Addresses in scripts without capitals, behind labels that say that one follows: `住所: 東京都渋谷区神南1-2-3`. All of the value is
//! the address.

use super::super::super::view::View;
use super::letters::{is_letter, text, text_before};
use super::word::{NameLook, Tagged};
use crate::detect::rules::NameTag;

/// How much is read before a value, in bytes, and of the value.
const BEFORE: usize = 40;
const ADDRESS: usize = 128;

/// How addresses are labelled and written in one language.
struct AddressLanguage {
    /// Their labels, each whole: with another word before it, it is one of a server or a page.
    labels: &'static [&'static str],
    /// Words and signs for parts of one, and how many different ones it has at least.
    parts: &'static [&'static str],
    least: usize,
    /// Whether a comma ends it.
    comma: bool,
}

static LANGUAGES: [AddressLanguage; 6] = [
    AddressLanguage {
        labels: &[
            "地址",
            "住址",
            "家庭地址",
            "家庭住址",
            "现住址",
            "居住地址",
            "户籍地址",
            "联系地址",
            "聯絡地址",
            "通讯地址",
            "通訊地址",
            "收货地址",
            "收貨地址",
            "收件地址",
            "寄件地址",
            "邮寄地址",
            "详细地址",
            "詳細地址",
        ],
        parts: &[
            "省", "市", "区", "區", "县", "縣", "镇", "鎮", "村", "路", "街", "巷", "弄", "号", "號", "室",
        ],
        least: 2,
        comma: true,
    },
    AddressLanguage {
        labels: &["住所", "現住所", "ご住所", "自宅住所", "送付先住所", "お届け先住所"],
        parts: &["都", "道", "府", "県", "市", "区", "郡", "町", "村", "丁目", "番地"],
        least: 2,
        comma: true,
    },
    AddressLanguage {
        labels: &["주소", "집주소", "자택주소", "배송주소", "배송지"],
        parts: &["시", "도", "구", "군", "읍", "면", "동", "로", "길", "번지"],
        least: 2,
        comma: false,
    },
    AddressLanguage {
        labels: &["العنوان", "عنوان", "عنوان السكن"],
        parts: &["شارع", "ص.ب"],
        least: 1,
        comma: false,
    },
    AddressLanguage {
        labels: &["כתובת", "הכתובת", "כתובת מגורים"],
        parts: &["רחוב", "רח'", "שדרות", "שד'", "דרך", "סמטת"],
        least: 1,
        comma: false,
    },
    AddressLanguage {
        labels: &["ที่อยู่"],
        parts: &["ถนน", "ซอย", "แขวง", "เขต", "ตำบล", "อำเภอ", "จังหวัด"],
        least: 1,
        comma: false,
    },
];

/// The address at `start`, if a label that says that one follows stands right before it.
pub(super) fn behind_label(view: &View<'_>, start: usize) -> Option<NameLook> {
    let language = labelled_language(view, start)?;
    if start + ADDRESS >= view.len() && !view.complete {
        return Some(NameLook::NeedMore);
    }
    let value = language.value(text(view, start, start + ADDRESS));
    let tagged = Tagged { tag: NameTag::Location, start, end: start + value.len(), score: 0.7 };
    Some(if language.is_address(value) { NameLook::Name(tagged) } else { NameLook::Nobody })
}

/// The language of the label that stands right before `start`.
fn labelled_language(view: &View<'_>, start: usize) -> Option<&'static AddressLanguage> {
    let before = text_before(view, start, BEFORE);
    let outer = |c: char| matches!(c, '"' | '\'' | '\\' | '\u{201c}' | ' ' | '\t' | '\n' | '\r');
    let named = before.trim_end_matches(outer).strip_suffix([':', '=', '\u{ff1a}'])?;
    let named = named.trim_end_matches(|c| outer(c) || c == '*');
    let ends = |label: &str| named.strip_suffix(label).is_some_and(|rest| !rest.ends_with(is_letter));
    LANGUAGES.iter().find(|language| language.labels.iter().any(|&label| ends(label)))
}

impl AddressLanguage {
    /// The value that a text begins with: up to the end of its line, its quote or its cell.
    fn value<'t>(&self, text: &'t str) -> &'t str {
        let mut before = ' ';
        let end = text.char_indices().find(|&(at, c)| {
            let next = text.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
            let ends = match c {
                '\n' | '\r' | '\t' | '"' | '<' | '>' | '|' | ';' | '\\' | '{' | '}' | '。' | '\u{ff1b}' => {
                    true
                }
                ',' | '、' | '\u{ff0c}' => self.comma,
                // It may also be the sign of an abbreviation.
                '\'' => next.is_none_or(|next| matches!(next, ',' | '}' | ']' | ')')),
                ' ' => before == ' ',
                _ => false,
            };
            before = c;
            ends
        });
        let value = text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or_default();
        value.trim_end_matches([' ', ',', '.'])
    }

    /// Whether a value is an address: a number stands in it, and parts of one do.
    fn is_address(&self, value: &str) -> bool {
        let hangul = |c: char| matches!(c, '\u{ac00}'..='\u{d7a3}');
        // In Korean they end words.
        let has = |part: &str| {
            let behind = |at: usize| value.get(at + part.len()..).unwrap_or_default();
            value.match_indices(part).any(|(at, _)| !behind(at).starts_with(hangul))
        };
        let linked = value.contains('@') || value.contains("//") || value.contains("www.");
        !linked
            && value.contains(char::is_numeric)
            && self.parts.iter().filter(|&&part| has(part)).count() >= self.least
    }
}

#[cfg(test)]
mod tests {
    use super::super::introductions::tests::found;

    #[test]
    fn what_stands_behind_a_label_of_an_address_is_one() {
        for (text, address) in [
            ("地址: 上海市徐汇区漕溪北路88号1201室", "上海市徐汇区漕溪北路88号1201室"),
            ("地址：上海市徐汇区漕溪北路88号，电话", "上海市徐汇区漕溪北路88号"),
            (r#"{"家庭地址":"上海市徐汇区漕溪北路88号","x":1}"#, "上海市徐汇区漕溪北路88号"),
            ("住所: 東京都渋谷区神南1-2-3\n", "東京都渋谷区神南1-2-3"),
            ("주소: 서울시 강남구 테헤란로 123, 4층\n", "서울시 강남구 테헤란로 123, 4층"),
            ("العنوان: شارع الملك فهد 12، الرياض\n", "شارع الملك فهد 12، الرياض"),
            ("כתובת: רח' הרצל 12, תל אביב\n", "רח' הרצל 12, תל אביב"),
        ] {
            assert_eq!(found(text), [format!("LOCATION {address}")], "{text}");
        }
        for text in [
            "邮箱地址: 上海市徐汇区漕溪北路88号",
            "IP地址: 上海市徐汇区机房88号",
            "地址: 机房3号",
            "地址: 上海市徐汇区漕溪北路",
            "地址: 市区//example.cn/12号",
            "주소: 도메인으로 시작하는 123\n",
            "العنوان: تقرير 2024\n",
            "上海市徐汇区漕溪北路88号",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
    }
}
