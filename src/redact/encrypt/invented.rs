//! Words that nobody is called, of the script and about the length of what they stand for, and that can be spoken: for
//! names that no dictionary has. They are drawn from the keyed PRF of the name; where two meet, who issues surrogates
//! takes the next counter.

use crate::crypto::fpe::{FpeKey, Keystream};
use crate::redact::dictionary::Dictionary;
use crate::redact::style::NameKind;

const ONSETS: &[&str] = &[
    "b", "br", "c", "cl", "d", "dr", "f", "fr", "g", "gr", "h", "j", "k", "kr", "l", "m", "n", "p", "pr",
    "r", "s", "st", "t", "tr", "v", "w", "z", "th", "sh", "sk",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "a", "e", "o", "ai", "ea"];
const MIDDLES: &[&str] = &[
    "l", "n", "r", "v", "m", "d", "s", "t", "z", "b", "lv", "ld", "nd", "nt", "rd", "rl", "rm", "rn", "rt",
    "rv", "sk", "st", "lm", "ln", "nn", "ll", "k", "g", "mb", "nk",
];
const SINGLES: &[&str] = &["l", "n", "r", "m", "d", "s", "t", "v", "k"];
const CODAS: &[&str] =
    &["l", "n", "r", "s", "m", "d", "t", "k", "x", "th", "rn", "nd", "sk", "ll", "nt", "v"];
const PLACES: &[&str] = &[
    "ton", "ford", "ham", "wick", "bury", "field", "burg", "dorf", "stedt", "ville", "court", "dale", "mere",
];
const ORGANIZATIONS: &[&str] =
    &["ex", "ora", "ix", "on", "ia", "eon", "ara", "is", "um", "ent", "iq", "or", "ax"];

const HAN: &str = "安柏晨承春德冬恩芳飞刚光国海涵浩和恒宏华慧嘉建杰金静俊凯乐磊丽利良林玲龙露曼美梦民明宁培鹏平琪强清庆秋泉仁荣瑞若森山善世淑思松涛天婷彤薇伟文希霞贤祥翔晓欣新秀旭雪雅彦阳瑶怡艺英颖永勇友雨玉源远月悦云泽哲珍真振正志智中子紫";
const HANGUL: &str = "가강건경광국규기나남다대도동두라래로리마명모무미민바배범보봄상서석선설성세소송수숙순시신아안애언여연영예오옥온용우운원유윤은의인일자재정제조종주준중지진차찬창채천철초춘태하한해현형혜호홍화환효훈희";
const HIRAGANA: &str = "あいうえおかきくけこさしすせそたちつてとなにのはひふまみむめもやゆよらりるれろわ";
const KATAKANA: &str = "アイウエオカキクケコサシスセソタチツテトナニノハヒフマミムメモヤユヨラリルレロワ";
const ARABIC: &str = "ابتجحدرزسشصطعفقكلمنهوي";
const HEBREW: &str = "אבגדהוזחטיכלמנסעפצקרשת";
const CYRILLIC: (&str, &str, &str) = ("бвгдзклмнпрстфх", "аеиоу", "внрлмск");
const GREEK: (&str, &str, &str) = ("βγδζθκλμνπρστφχ", "αεηιοω", "ςν");

/// One of a list.
fn one<'l>(stream: &mut Keystream, list: &[&'l str]) -> &'l str {
    let count = (list.len() as u128).max(1);
    list.get((stream.block() % count) as usize).copied().unwrap_or_default()
}

fn letter(stream: &mut Keystream, letters: &str) -> char {
    let count = (letters.chars().count() as u128).max(1);
    letters.chars().nth((stream.block() % count) as usize).unwrap_or('a')
}

/// Words that are made until one is nobody's: a script of one letter a word has few.
const TRIES: usize = 32;

/// What stands for a word, which is in lower case; with a capital where its script has them.
pub(super) fn word(key: &FpeKey, tweak: [u8; 16], kind: NameKind, original: &str) -> String {
    let mut stream = key.keystream(&[&tweak, b"invented", &[kind as u8], original.as_bytes()]);
    let lists = [Dictionary::persons(), Dictionary::towns(), Dictionary::streets()];
    let free = |made: &str| made != original && !lists.iter().any(|list| list.knows(made));
    let mut made = spoken(&mut stream, kind, original);
    for _ in 1..TRIES {
        if free(&made) {
            break;
        }
        made = spoken(&mut stream, kind, original);
    }
    let mut letters = made.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// A word of the script of another, and about as long.
fn spoken(stream: &mut Keystream, kind: NameKind, like: &str) -> String {
    let length = like.chars().count();
    match script(like) {
        Script::Latin => latin(stream, kind, length),
        Script::Letters(letters) => (0..length).map(|_| letter(stream, letters)).collect(),
        Script::Syllables((onsets, vowels, codas)) => {
            let mut made = String::new();
            for _ in 0..(length / 2).clamp(2, 4) {
                made.extend([letter(stream, onsets), letter(stream, vowels)]);
            }
            made.push(letter(stream, codas));
            made
        }
    }
}

enum Script {
    Latin,
    /// One of these for each letter.
    Letters(&'static str),
    /// Letters before a vowel, vowels, and letters at the end.
    Syllables((&'static str, &'static str, &'static str)),
}

/// That of the first letter.
fn script(word: &str) -> Script {
    match word.chars().find(|c| c.is_alphabetic()).unwrap_or('a') {
        '\u{400}'..='\u{52f}' => Script::Syllables(CYRILLIC),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Script::Syllables(GREEK),
        '\u{590}'..='\u{5ff}' => Script::Letters(HEBREW),
        '\u{600}'..='\u{6ff}' => Script::Letters(ARABIC),
        '\u{3040}'..='\u{309f}' => Script::Letters(HIRAGANA),
        '\u{30a0}'..='\u{30ff}' => Script::Letters(KATAKANA),
        '\u{3400}'..='\u{9fff}' => Script::Letters(HAN),
        '\u{ac00}'..='\u{d7a3}' => Script::Letters(HANGUL),
        _ => Script::Latin,
    }
}

/// Two syllables, or three for a long word.
fn latin(stream: &mut Keystream, kind: NameKind, length: usize) -> String {
    let mut made = one(stream, ONSETS).to_owned();
    if length > 7 {
        made.extend([one(stream, VOWELS), one(stream, MIDDLES)]);
    }
    // Before a consonant, one is enough.
    let middles = if kind == NameKind::Place { SINGLES } else { MIDDLES };
    made.extend([one(stream, VOWELS), one(stream, middles)]);
    match kind {
        NameKind::Person => made.extend([one(stream, VOWELS), one(stream, CODAS)]),
        NameKind::Place => made.push_str(one(stream, PLACES)),
        NameKind::Organization => made.push_str(one(stream, ORGANIZATIONS)),
    }
    made
}
