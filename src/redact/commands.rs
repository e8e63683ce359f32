//! [`Command`]: commands as lists of their words, and which of those are passwords though no word before says so:
//! `["sshpass", "-p", "…"]`, `["AUTH", "…"]`.

/// Programs, and their options of one letter whose value is a password.
const OPTIONS: &[(&str, &str)] = &[
    ("redis-cli", "-a"),
    ("valkey-cli", "-a"),
    ("sshpass", "-p"),
    ("mongo", "-p"),
    ("mongosh", "-p"),
    ("mongodump", "-p"),
    ("mongorestore", "-p"),
    ("ldapsearch", "-w"),
    ("ldapadd", "-w"),
    ("ldapmodify", "-w"),
    ("ldapwhoami", "-w"),
    ("sqlcmd", "-P"),
    ("bcp", "-P"),
    ("mosquitto_pub", "-P"),
    ("mosquitto_sub", "-P"),
    ("ipmitool", "-P"),
    ("unzip", "-P"),
];
/// Commands of Redis whose words, from the one with this number on, are names and values in turns.
const IN_PAIRS: &[(&str, usize)] = &[("config", 2), ("hset", 2), ("hmset", 2), ("hsetnx", 2), ("mset", 1)];

/// A command, by its first word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Command {
    /// A program with this option for a password.
    Program(&'static str),
    /// `AUTH password`, `AUTH user password`.
    Auth,
    /// Names and values in turns, from the word with this number on.
    Pairs(usize),
}

impl Command {
    /// The one whose first word this is.
    pub(super) fn of(word: &str) -> Option<Self> {
        let program = word.rsplit('/').next().unwrap_or_default();
        if let Some((_, option)) = OPTIONS.iter().find(|(name, _)| *name == program) {
            return Some(Self::Program(option));
        }
        // In small letters it is a word of any list.
        if word == "AUTH" {
            return Some(Self::Auth);
        }
        let pairs = IN_PAIRS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        pairs.map(|(_, first)| Self::Pairs(*first))
    }

    /// Whether the word with this number, behind `before` and the `last` or not, is a password.
    pub(super) fn gives_password(self, number: usize, before: &str, last: bool) -> bool {
        match self {
            Self::Program(option) => before == option,
            Self::Auth => last && matches!(number, 1 | 2),
            Self::Pairs(_) => false,
        }
    }

    /// Whether the word with this number is a value behind its name.
    pub(super) fn is_value(self, number: usize) -> bool {
        matches!(self, Self::Pairs(first) if number > first && (number - first) % 2 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_give_passwords_without_saying_so() {
        for (command, number, before, last, gives) in [
            ("redis-cli", 2, "-a", true, true),
            ("/usr/bin/sshpass", 2, "-p", false, true),
            ("ssh", 2, "-p", false, false),
            ("AUTH", 1, "AUTH", true, true),
            ("AUTH", 2, "default", true, true),
            ("AUTH", 1, "AUTH", false, false),
            ("auth", 1, "auth", true, false),
            ("HSET", 3, "password", true, false),
        ] {
            let found = Command::of(command);
            assert_eq!(found.is_some_and(|one| one.gives_password(number, before, last)), gives, "{command}");
        }
        let values = |command: &str| {
            let found = Command::of(command).unwrap();
            (0..6).filter(|number| found.is_value(*number)).collect::<Vec<usize>>()
        };
        assert_eq!(values("CONFIG"), [3, 5]);
        assert_eq!(values("mset"), [2, 4]);
    }
}
