//! What each provider keeps, as data. An id is one of its caller's, so that a name that two providers use alike does no harm.

use KeepRule::{Always, IfTold, UnlessToldNot};
use ResourceRole::{Continues, Reads};

/// What one provider keeps.
pub(super) struct KeptNaming {
    /// Segments of paths that things are kept under.
    pub(super) collections: &'static [Collection],
    /// Members of requests that hold an id, a list of them, or an object with one under `id`; wherever they stand, but for
    /// `a.b`, which is a member of the member `a` of the document.
    pub(super) request: &'static [(&'static str, ResourceRole)],
    /// Members of answers, or of the events of one, that hold an id: names on the way there.
    pub(super) answer: &'static [&'static [&'static str]],
}

/// A segment of paths behind which an id stands. A request to the segment itself makes one.
pub(super) struct Collection {
    /// The segment.
    pub(super) name: &'static str,
    /// When what it makes is kept.
    pub(super) kept: KeepRule,
    /// What a request behind an id does.
    pub(super) role: ResourceRole,
}

/// When a request is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepRule {
    /// Always.
    Always,
    /// Unless its body says `"store": false`.
    UnlessToldNot,
    /// If its body says `"store": true`.
    IfTold,
}

/// What a request has to do with what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceRole {
    /// It goes on with it: what the request adds is there later.
    Continues,
    /// The same, if something was issued in it before; else it is a word that may stand in any request.
    ContinuesIfKnown,
    /// It reads it.
    Reads,
}

impl KeepRule {
    /// Whether a request is kept whose body says this under `store`.
    pub fn applies(self, store: Option<bool>) -> bool {
        match self {
            Self::Always => true,
            Self::UnlessToldNot => store != Some(false),
            Self::IfTold => store == Some(true),
        }
    }
}

/// Every provider's.
pub(super) static ALL: [&KeptNaming; 6] = [&OPENAI, &ANTHROPIC, &GEMINI, &MISTRAL, &COHERE, &MCP];

const fn collection(name: &'static str, kept: KeepRule, role: ResourceRole) -> Collection {
    Collection { name, kept, role }
}

/// API reference, "Responses", "Conversations", "Chat", "Assistants", "Files", "Uploads", "Batches", "Vector stores",
/// "Containers", "Videos", "Evals", "Skills", "Webhooks" and "Agents"; Azure has the same. Of xAI, "Deferred chat completions".
static OPENAI: KeptNaming = KeptNaming {
    collections: &[
        collection("responses", UnlessToldNot, Reads),
        collection("conversations", Always, Continues),
        collection("completions", IfTold, Reads),
        collection("threads", Always, Continues),
        collection("runs", Always, Reads),
        collection("files", Always, Reads),
        collection("uploads", Always, Continues),
        collection("batches", Always, Reads),
        collection("vector_stores", Always, Continues),
        collection("containers", Always, Continues),
        collection("assistants", Always, Continues),
        collection("videos", Always, Reads),
        collection("deferred-completion", Always, Reads),
        collection("sessions", Always, Continues),
        collection("evals", Always, Continues),
        collection("skills", Always, Continues),
        collection("webhooks", Always, Continues),
        collection("vaults", Always, Continues),
        collection("credentials", Always, Continues),
        collection("characters", Always, Reads),
    ],
    request: &[
        ("previous_response_id", Continues),
        ("conversation", Continues),
        ("thread_id", Continues),
        ("container", Continues),
        ("container_id", Continues),
        ("input_file_id", Reads),
        ("file_id", Reads),
        ("file_ids", Reads),
        ("vector_store_ids", Reads),
        ("assistant_id", Reads),
        ("remixed_from_video_id", Reads),
    ],
    answer: &[
        &["id"],
        &["response", "id"],
        &["conversation", "id"],
        &["response", "conversation", "id"],
        &["thread_id"],
        &["output_file_id"],
        &["error_file_id"],
        &["file", "id"],
        &["request_id"],
    ],
};

/// API reference, "Message Batches", "Files" and "Managed agents" (with what is called as OpenAI calls it); `container` is where
/// code runs. A message itself is not kept.
static ANTHROPIC: KeptNaming = KeptNaming {
    collections: &[
        collection("memory_stores", Always, Continues),
        collection("memories", Always, Continues),
        collection("environments", Always, Continues),
        collection("deployments", Always, Continues),
        collection("dreams", Always, Reads),
        collection("user_profiles", Always, Continues),
        collection("tunnels", Always, Continues),
    ],
    request: &[],
    answer: &[&["container", "id"], &["message", "container", "id"], &["delta", "container", "id"]],
};

/// API reference, "Interactions", "Batch", "Caching", "Files", "File search" and long-running operations: names such as
/// `files/abc`, and addresses that end so.
static GEMINI: KeptNaming = KeptNaming {
    collections: &[
        collection("interactions", UnlessToldNot, Continues),
        collection("cachedContents", Always, Reads),
        collection("operations", Always, Reads),
        collection("fileSearchStores", Always, Continues),
        collection("tunedModels", Always, Continues),
        collection("corpora", Always, Continues),
        collection("triggers", Always, Continues),
        collection("batchPredictionJobs", Always, Reads),
        collection("tuningJobs", Always, Reads),
    ],
    request: &[
        ("previous_interaction_id", Continues),
        ("cachedContent", Reads),
        ("cached_content", Reads),
        ("fileUri", Reads),
        ("file_uri", Reads),
        ("fileName", Reads),
        ("file_name", Reads),
        ("fileSearchStoreNames", Reads),
        ("file_search_store_names", Reads),
    ],
    answer: &[
        &["name"],
        &["file", "name"],
        &["interaction", "id"],
        &["interaction_id"],
        &["response", "responsesFile"],
        &["metadata", "output", "responsesFile"],
        &["dest", "fileName"],
    ],
};

/// API reference, "Conversations", "Agents", "Libraries", "Connectors" and "Batch".
static MISTRAL: KeptNaming = KeptNaming {
    collections: &[
        collection("jobs", Always, Reads),
        collection("agents", Always, Continues),
        collection("libraries", Always, Continues),
        collection("documents", Always, Continues),
        collection("connectors", Always, Continues),
        collection("prompts", Always, Continues),
        collection("workflows", Always, Continues),
        collection("search_indexes", Always, Continues),
        collection("judges", Always, Continues),
    ],
    request: &[("conversation_id", Continues), ("input_files", Reads), ("agent_id", Reads)],
    answer: &[&["conversation_id"], &["output_file"], &["error_file"]],
};

/// API reference, "Batches", "Datasets" and "Embed Jobs", and of version 1 "Chat".
static COHERE: KeptNaming = KeptNaming {
    collections: &[
        collection("datasets", Always, Reads),
        collection("embed-jobs", Always, Reads),
        collection("finetuned-models", Always, Continues),
    ],
    request: &[("input_dataset_id", Reads), ("dataset_id", Reads)],
    answer: &[
        // Of a chat of version 1, as LM Studio has it too.
        &["response_id"],
        &["response", "response_id"],
        &["result", "response_id"],
        &["batch", "id"],
        &["batch", "output_dataset_id"],
        &["output_dataset_id"],
        &["dataset", "id"],
        &["job_id"],
    ],
};

/// Tasks, which a server makes of calls: specification of 2025-11-25, and the extension `io.modelcontextprotocol/tasks` of
/// 2026-07-28. What a client adds to one (`tasks/update`) is there later.
static MCP: KeptNaming = KeptNaming {
    collections: &[],
    request: &[("params.taskId", Continues), ("params.taskIds", Reads)],
    answer: &[&["result", "task", "taskId"], &["result", "taskId"]],
};
