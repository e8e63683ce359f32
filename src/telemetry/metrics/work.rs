//! What is done beside bodies in motion: files, the store, and the process's own life.

use prometheus::{Histogram, IntCounter, IntCounterVec, IntGauge, IntGaugeVec};

use super::error::MetricsError;
use super::family::{Families, LabelledMetric, SECONDS};
use super::words::words;

words! {
    /// Where a file of a caller's stands.
    pub enum JobState {
        /// It waits for a place.
        Waiting => "waiting",
        /// It is being worked on.
        Running => "running",
    }
}

words! {
    /// What became of a file.
    pub enum FileOutcome {
        /// Its clean form was released.
        Clean => "clean",
        /// It is malicious.
        Malicious => "malicious",
        /// It could not be made clean.
        Refused => "refused",
        /// We failed.
        Failed => "failed",
    }
}

words! {
    /// How the process that read a file ended, where it did not end well.
    pub enum ChildEnd {
        /// It took too long.
        Timeout => "timeout",
        /// It needed more memory than it may have.
        Memory => "memory",
        /// Anything else.
        Died => "died",
    }
}

words! {
    /// What a scanner said.
    pub enum ScanResult {
        /// Nothing is known against it.
        Clean => "clean",
        /// It is malicious.
        Malicious => "malicious",
        /// It cannot look at this part.
        Unable => "unable",
        /// No answer.
        Down => "down",
    }
}

/// The counters of one scanner's verdicts.
pub type ScanCounters = LabelledMetric<ScanResult, IntCounter>;

words! {
    /// How the names model knew pieces of words.
    pub enum NamesRead {
        /// It read them.
        New => "new",
        /// It had read them before.
        Remembered => "remembered",
    }
}

words! {
    /// What came of a look-up of what was found in a text.
    pub enum FindingsRead {
        /// The text was looked through.
        New => "new",
        /// It was known what is in it.
        Remembered => "remembered",
    }
}

words! {
    /// What the store is asked.
    pub enum StoreWork {
        /// To read.
        Read => "read",
        /// To write.
        Write => "write",
    }
}

/// Files, the store, reloads.
#[derive(Clone)]
pub struct WorkMetrics {
    /// Files under way.
    pub jobs: LabelledMetric<JobState, IntGauge>,
    /// Files done.
    pub verdicts: LabelledMetric<FileOutcome, IntCounter>,
    /// How long files took, in seconds.
    pub job_seconds: Histogram,
    /// Processes that read files and did not end well.
    pub children: LabelledMetric<ChildEnd, IntCounter>,
    scans: IntCounterVec,
    feeds: IntGaugeVec,
    /// How long the store took, in seconds.
    pub store: LabelledMetric<StoreWork, Histogram>,
    /// What the store could not do.
    pub store_errors: IntCounter,
    /// Pieces of words that the names model was asked about; there where one is loaded.
    pub names_tokens: LabelledMetric<NamesRead, IntCounter>,
    /// Texts of which it left something to the lexicon, for want of budget.
    pub names_beyond: IntCounter,
    /// Bytes of texts whose findings were looked up before the texts were looked through.
    pub findings_looked_up: LabelledMetric<FindingsRead, IntCounter>,
    names_model: IntGaugeVec,
    reloads: IntCounterVec,
    /// What reloads took away of the protection that there was.
    pub weakened: IntCounter,
    reloaded: IntGauge,
}

impl WorkMetrics {
    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        let jobs = families.gauges("sanitize_jobs", "Files under way, by state.", &["state"])?;
        let verdicts =
            families.counters("sanitize_total", "Files done, by what became of them.", &["verdict"])?;
        let children = families.counters(
            "child_deaths_total",
            "Processes that read files and did not end well.",
            &["reason"],
        )?;
        let store =
            families.histograms("store_seconds", "How long the store took.", &["operation"], SECONDS)?;
        let tokens = families.counters(
            "names_tokens_total",
            "Tokens that the names model was asked about: new ones, and those it had read before.",
            &["read"],
        )?;
        let looked_up = families.counters(
            "findings_looked_up_bytes_total",
            "Bytes of texts of requests whose findings were looked up: new texts, and those that their caller had sent before.",
            &["read"],
        )?;
        let made = Self {
            findings_looked_up: LabelledMetric::new(move |word| looked_up.with_label_values(&[word])),
            names_tokens: LabelledMetric::new(move |word| tokens.with_label_values(&[word])),
            names_beyond: families.counter(
                "names_beyond_total",
                "Texts of which the names model did not read all, for want of budget.",
            )?,
            names_model: families.gauges(
                "names_model_info",
                "The names model that is loaded, by the digest of its files.",
                &["digest"],
            )?,
            jobs: LabelledMetric::new(move |word| jobs.with_label_values(&[word])).shown(),
            verdicts: LabelledMetric::new(move |word| verdicts.with_label_values(&[word])).shown(),
            job_seconds: families.histogram("sanitize_duration_seconds", "How long files took.", SECONDS)?,
            children: LabelledMetric::new(move |word| children.with_label_values(&[word])).shown(),
            scans: families.counters("scan_results_total", "What scanners said.", &["provider", "result"])?,
            feeds: families.gauges(
                "feed_loaded_timestamp_seconds",
                "When a feed of bad links or files was last read, since 1970.",
                &["feed"],
            )?,
            store: LabelledMetric::new(move |word| store.with_label_values(&[word])),
            store_errors: families.counter("store_errors_total", "What the store could not do.")?,
            reloads: families.counters("reloads_total", "Reloads of the configuration.", &["result"])?,
            weakened: families.counter(
                "reload_weakened_total",
                "What reloads took away of the protection that there was: redaction of a route, rules, who may call.",
            )?,
            reloaded: families.gauge(
                "config_loaded_timestamp_seconds",
                "When the running configuration was read, since 1970.",
            )?,
        };
        for result in ["ok", "failed"] {
            made.reloads.with_label_values(&[result]);
        }
        Ok(made)
    }

    /// This names model is loaded now, or none.
    pub fn names_model(&self, digest: Option<&str>) {
        self.names_model.reset();
        if let Some(digest) = digest {
            self.names_model.with_label_values(&[digest]).set(1);
        }
    }

    /// The counters of what one scanner of the configuration says.
    pub fn scanner(&self, provider: &str) -> ScanCounters {
        let (scans, provider) = (self.scans.clone(), provider.to_owned());
        LabelledMetric::new(move |result| scans.with_label_values(&[&provider, result])).shown()
    }

    /// A feed of the configuration was read at this time, in seconds since 1970.
    pub fn feed_loaded(&self, feed: &str, at: u64) {
        self.feeds.with_label_values(&[feed]).set(i64::try_from(at).unwrap_or(i64::MAX));
    }

    /// A configuration was loaded at this time, in seconds since 1970; `first` at the start of the process.
    pub fn loaded(&self, at: u64, first: bool) {
        if !first {
            self.reloads.with_label_values(&["ok"]).inc();
        }
        self.reloaded.set(i64::try_from(at).unwrap_or(i64::MAX));
    }

    /// A configuration could not be loaded; the one before stays.
    pub fn not_loaded(&self) {
        self.reloads.with_label_values(&["failed"]).inc();
    }
}
