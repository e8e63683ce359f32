//! Words that stand where a value would, each once, with what it may be there: what programs and forms call a value, its type or its
//! variable, and what manuals and messages say of it.

use std::collections::HashMap;
use std::sync::LazyLock;

use WordRole::{Asked, Dummy, Modifier, Remark, Secret, State, Term, Type, Unit, Variable};

/// What a word may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// It stands for a value, or for none.
    Dummy,
    /// What programs call their variables, with a number behind.
    Variable,
    /// What manuals and messages say of a value, with a number behind: of its length, its state, its kind.
    Remark,
    /// A word for a secret, which with a number is a variable too, and a password as often.
    Secret,
    /// The last word of what types are called: `OAuth2Token`, `Base64String`.
    Type,
    /// What numbers count in tables and reports.
    Unit,
    /// What something is like or is for, as tables and lists of changes have it behind names.
    State,
    /// What lines of programs begin with that declare a variable.
    Modifier,
    /// What an algorithm is called.
    Term,
    /// What forms say of a field that must be filled in.
    Asked,
}

/// The words, by what they may be.
const WORDS: [(&[WordRole], &str); 25] = [
    (
        &[Dummy],
        "\
         null nil true false undefined not-set tbd env user username yes no any basic bearer changeme \
         change_me userpassword yourpassword api_key my_password mypassword self this prompt function async \
         new return void int bool is and or in the for with incorrect wrong dummy [password] placeholder \
         service_account authorized_user external_account",
    ),
    (&[Dummy, Variable], "str todo value object text varchar key input"),
    (&[Dummy, Variable, Unit], "bytes char"),
    (&[Dummy, Variable, State], "string number"),
    (&[Dummy, Variable, Modifier], "var"),
    (&[Dummy, Remark], "redacted masked"),
    (&[Dummy, Remark, Secret], "pass"),
    (&[Dummy, Remark, State], "required optional invalid"),
    (&[Dummy, Secret], "password passwd pwd pw secret token apikey"),
    (&[Dummy, State], "none hidden default empty unset boolean missing"),
    (&[Dummy, Modifier], "const let"),
    (
        &[Variable],
        "\
         arg args param params field col column opt option item row line name data obj result res ref type \
         id uid num tmp temp foo bar baz level version module section page chapter table figure group class \
         callback cell node step note",
    ),
    (&[Variable, Unit], "chars"),
    (&[Variable, Modifier], "val func"),
    (
        &[Remark],
        "\
         max minimum maximum minlength maxlength length atleast least nullable hash plain typed expected \
         actual included annotated strong weak skip skipped passed fail failed done ok error errors argon \
         webauthn saml kerberos oauth ldap ntlm totp proto see",
    ),
    (&[Remark, Unit], "min"),
    (&[Remark, State], "hashed encrypted expired deprecated"),
    (&[Remark, State, Asked], "mandatory"),
    (&[Remark, Term], "scrypt bcrypt"),
    (&[Secret], "cred creds credential"),
    (
        &[Type],
        "\
         Type Token Auth String Str Field Input Path Hash Key Id Data Model View Value Text Bytes Info Spec \
         Schema Config Options Provider Service Client Error Ref Box Vec Map List Set Password Secret \
         Credential Credentials Validator Serializer Hasher Bucket Factory Form Request Response Handler \
         Manager Bearer Encoder Builder Wrapper",
    ),
    (
        &[Unit],
        "\
         ms s us ns h d b kb mb gb tb bit bits byte character characters digits x attempts tries times days \
         hours minutes seconds px pt % %done mm cm kg eur usd",
    ),
    (
        &[State],
        "\
         added removed changed renamed updated fixed moved recommended inherit inherited unknown mismatch \
         valid disabled enabled visible interactive automatic auto generated never always ignored unused \
         integer hostname resetting descriptive plaintext external supported unsupported experimental",
    ),
    (&[State, Modifier], "internal"),
    (&[Modifier], "mut pub public private protected readonly static final override lateinit fn def"),
];

/// For each word a bit for each of its roles.
static ROLES: LazyLock<HashMap<&'static [u8], u16>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (roles, words) in WORDS {
        let bits = roles.iter().fold(0_u16, |bits, &role| bits | 1 << role as u16);
        all.extend(words.split(' ').map(|word| (word.as_bytes(), bits)));
    }
    all
});

/// Whether a word may be one of these.
pub(crate) fn is_of(roles: &[WordRole], word: &[u8]) -> bool {
    let bits = if word.is_empty() { 0 } else { ROLES.get(word).copied().unwrap_or(0) };
    roles.iter().any(|&role| bits & 1 << role as u16 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_stands_once() {
        let words = WORDS.into_iter().flat_map(|(_, words)| words.split(' '));
        assert_eq!(words.count(), ROLES.len());
        assert!(is_of(&[Remark], b"optional") && is_of(&[Dummy, Unit], b"optional"));
        assert!(!is_of(&[Type], b"optional") && !is_of(&[Dummy, Secret], b"Token") && !is_of(&[Dummy], b""));
    }
}
