//! Names of language models, assistants and agents. They say who speaks or which program is meant, and are nobody's unless
//! something says so.

use super::lexicon::look_up_all;
use super::roles::Role;
use super::surroundings::Before;
use super::word::Word;

/// Names of models and of what is made of them, some of which are names of people, too: alone they are the model's.
pub(super) const MODELS: &[&str] = &[
    "aider",
    "alexa",
    "bard",
    "bixby",
    "chatgpt",
    "claude",
    "cline",
    "codestral",
    "codex",
    "copilot",
    "cortana",
    "cursor",
    "deepseek",
    "devin",
    "devstral",
    "gemini",
    "gpt",
    "grok",
    "haiku",
    "jules",
    "junie",
    "kimi",
    "kiro",
    "llama",
    "maverick",
    "mistral",
    "mixtral",
    "nova",
    "ollama",
    "opus",
    "perplexity",
    "qwen",
    "siri",
    "sonnet",
    "tabnine",
    "windsurf",
];

/// Names of models that are people's more often: the model's beside its maker, or before what it is.
pub(super) const NAMESAKES: &[&str] = &[
    "aria", "aya", "bert", "cody", "dolly", "einstein", "ernie", "falcon", "gemma", "hermes", "jasper",
    "orca", "phi", "roberta", "scout", "sora", "titan", "watson",
];

/// Who makes models.
pub(super) const MAKERS: &[&str] = &[
    "alibaba",
    "amazon",
    "anthropic",
    "anthropic's",
    "aws",
    "baidu",
    "cognition",
    "cohere",
    "deepmind",
    "github",
    "google",
    "google's",
    "ibm",
    "jetbrains",
    "meta",
    "microsoft",
    "moonshot",
    "nvidia",
    "openai",
    "openai's",
    "salesforce",
    "sourcegraph",
    "xai",
];

/// What follows them in names of what is made of them.
pub(super) const KINDS: &[&str] = &[
    "agent",
    "ai",
    "api",
    "assistant",
    "cli",
    "code",
    "coder",
    "desktop",
    "flash",
    "instant",
    "large",
    "lite",
    "max",
    "medium",
    "micro",
    "mini",
    "nano",
    "premier",
    "pro",
    "sdk",
    "small",
    "studio",
    "turbo",
    "ultra",
];

/// Words behind which, or with which for a label, a name is a person's though a model has it, too.
pub(super) const OF_SOMEBODY: &[&str] = &[
    "boss",
    "brother",
    "cher",
    "chère",
    "client",
    "colleague",
    "cousin",
    "customer",
    "daughter",
    "dear",
    "employee",
    "father",
    "friend",
    "husband",
    "liebe",
    "lieber",
    "mother",
    "name",
    "neighbor",
    "neighbour",
    "patient",
    "sister",
    "son",
    "wife",
];

/// Whether words are the name of a model, or of what is made of it.
pub(super) fn is_model(words: &[Word], before: &Before<'_>) -> bool {
    let named = |word: &Word| word.roles.has(Role::Model) || word.roles.has(Role::Namesake);
    let Some(at) = words.iter().take(2).position(named) else { return false };
    let (front, rest) = words.split_at(at);
    let Some((word, behind)) = rest.split_first() else { return false };
    if words.len() > 1 && look_up_all(words.iter().map(|word| word.lower.as_str())).is_place() {
        return false;
    }
    let made = match front.last() {
        Some(word) => word.roles.has(Role::Maker),
        None => before.has(Role::Maker),
    };
    let next = behind.first();
    let of_kind = next.is_some_and(|next| next.roles.has(Role::ModelKind) || next.roles.has(Role::Model));
    if made || of_kind || !word.roles.has(Role::Model) {
        return made || of_kind;
    }
    match (front.last(), next) {
        (_, Some(surname)) if !surname.classes.is_ordinary() => false,
        (Some(first), _) => !first.classes.is_given() && first.lower.chars().nth(1).is_some(),
        (None, _) => !before.ends_with(Role::OfSomebody) && !before.say(["name", "is"]),
    }
}
