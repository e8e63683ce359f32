//! What the system knows of the process (proc(5)), under the names that every Prometheus client uses.

use std::fs;

use prometheus::{Counter, Gauge};

use super::error::MetricsError;
use super::family::Families;

/// The unit of the times in `/proc/self/stat`: part of the kernel's interface on every architecture that we build for.
const TICKS: f64 = 100.0;

/// Linux pages are of this size where we cannot ask; RSS is read in kB from `status`, which needs none.
pub(super) struct Process {
    cpu: Counter,
    resident: Gauge,
    virtual_size: Gauge,
    open: Gauge,
    most: Gauge,
    threads: Gauge,
    started: Gauge,
}

impl Process {
    pub(super) fn new(families: &Families<'_>) -> Result<Self, MetricsError> {
        Ok(Self {
            cpu: families.foreign_counter("process_cpu_seconds_total", "CPU time used, user and system.")?,
            resident: families.foreign("process_resident_memory_bytes", "Memory that is resident.")?,
            virtual_size: families.foreign("process_virtual_memory_bytes", "Memory that is mapped.")?,
            open: families.foreign("process_open_fds", "Open file descriptors.")?,
            most: families.foreign("process_max_fds", "File descriptors that may be open.")?,
            threads: families.foreign("process_threads", "Threads.")?,
            started: families.foreign("process_start_time_seconds", "When the process began, since 1970.")?,
        })
    }

    /// Looks again. What the system does not tell stays as it was.
    pub(super) fn look(&self) {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let status = read("/proc/self/status");
        set(&self.resident, kib(&status, "VmRSS:"));
        set(&self.virtual_size, kib(&status, "VmSize:"));
        set(&self.threads, number(&status, "Threads:"));
        set(&self.most, number(&read("/proc/self/limits"), "Max open files"));
        if let Ok(list) = fs::read_dir("/proc/self/fd") {
            // One of them is the list itself.
            self.open.set(list.count().saturating_sub(1) as f64);
        }
        let stat = read("/proc/self/stat");
        // The second field is a name in parentheses that may hold anything.
        let fields: Vec<f64> = stat.rsplit_once(')').map_or_else(Vec::new, |(_, rest)| {
            rest.split_ascii_whitespace().skip(1).map(|field| field.parse().unwrap_or(0.0)).collect()
        });
        let field = |number: usize| number.checked_sub(4).and_then(|index| fields.get(index)).copied();
        if let Some((user, system)) = field(14).zip(field(15)) {
            self.cpu.inc_by(((user + system) / TICKS - self.cpu.get()).max(0.0));
        }
        let booted = number(&read("/proc/stat"), "btime");
        set(&self.started, field(22).zip(booted).map(|(ticks, booted)| booted + ticks / TICKS));
    }
}

fn set(gauge: &Gauge, value: Option<f64>) {
    if let Some(value) = value {
        gauge.set(value);
    }
}

fn number(text: &str, name: &str) -> Option<f64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().next()?.parse().ok()
}

fn kib(text: &str, name: &str) -> Option<f64> {
    number(text, name).map(|kib| kib * 1024.0)
}
