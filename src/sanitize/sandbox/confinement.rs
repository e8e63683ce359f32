//! What a child takes away from itself for good: every path, every connection, every system call that reading a file from
//! one pipe and writing it to another does not need. By Landlock and seccomp, which Linux has; elsewhere nothing is taken.

/// What holds a thread, and all that it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// No path can be reached by any call, and nobody be connected to (Landlock). Kernels before 5.13, and those that it is
    /// switched off in, do not have it.
    pub paths: bool,
    /// Only some calls are there at all (seccomp).
    pub calls: bool,
}

/// What is taken where it is tried in vain, by a thread that ends.
pub fn probe() -> Confinement {
    let nothing = Confinement { paths: false, calls: false };
    std::thread::spawn(enclose).join().unwrap_or(nothing)
}

/// Takes away from this thread what it can, which it cannot have back.
#[cfg(not(target_os = "linux"))]
pub(super) fn enclose() -> Confinement {
    Confinement { paths: false, calls: false }
}

/// Takes away from this thread what it can, which it cannot have back.
#[cfg(target_os = "linux")]
pub(super) fn enclose() -> Confinement {
    // Who wants both has asked for them before any file came.
    let paths = linux::without_paths().unwrap_or(false);
    Confinement { paths, calls: linux::without_calls().is_ok() }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use landlock::{ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError, RulesetStatus};
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

    /// Takes all paths and connections away. False where the kernel has no Landlock.
    pub(super) fn without_paths() -> Result<bool, RulesetError> {
        // What an older kernel does not know is left out.
        let known = ABI::V5;
        let ruleset = Ruleset::default().handle_access(AccessFs::from_all(known))?;
        let ruleset = ruleset.handle_access(AccessNet::from_all(known))?;
        let status = ruleset.create()?.restrict_self()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }

    /// Memory, the pipe, time, chance, and the end.
    const CALLS: &[libc::c_long] = &[
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_write,
        libc::SYS_writev,
        libc::SYS_close,
        libc::SYS_fstat,
        libc::SYS_lseek,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_brk,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_sched_getaffinity,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_clock_nanosleep,
        libc::SYS_nanosleep,
        libc::SYS_gettid,
        libc::SYS_getpid,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sigaltstack,
        libc::SYS_tgkill,
        libc::SYS_restart_syscall,
        libc::SYS_exit,
        libc::SYS_exit_group,
    ];

    /// Leaves only [`CALLS`]: every other one fails.
    pub(super) fn without_calls() -> Result<(), seccompiler::Error> {
        let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
        let calls: BTreeMap<_, _> = CALLS.iter().map(|call| (*call, Vec::new())).collect();
        let denied = SeccompAction::Errno(libc::EPERM.unsigned_abs());
        let filter = SeccompFilter::new(calls, denied, SeccompAction::Allow, architecture)?;
        let program: BpfProgram = filter.try_into()?;
        seccompiler::apply_filter(&program)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::UnixStream;
    use std::process::Command;

    use super::*;

    #[test]
    fn nothing_is_left_but_what_is_open() {
        let folder = tempfile::tempdir().expect("a folder");
        let key = folder.path().join("master.key");
        std::fs::write(&key, "secret").expect("a file");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let address = listener.local_addr().expect("an address");
        let (mut mine, mut other) = std::io::pipe().expect("a pipe");
        let tried = std::thread::spawn(move || {
            let enclosed = enclose();
            other.write_all(b"x").expect("what is open stays open");
            let memory: usize = vec![1_u8; 8 << 20].iter().map(|byte| usize::from(*byte)).sum();
            let tries = [
                ("read a key", File::open(&key).is_ok()),
                ("read the process", File::open("/proc/self/maps").is_ok()),
                ("write", File::create(key.with_extension("new")).is_ok()),
                ("remove", std::fs::remove_file(&key).is_ok()),
                ("look", std::fs::metadata(&key).is_ok()),
                ("list", std::fs::read_dir("/").is_ok()),
                ("connect", TcpStream::connect(address).is_ok()),
                ("send", UdpSocket::bind("127.0.0.1:0").is_ok()),
                ("pair", UnixStream::pair().is_ok()),
                ("start", Command::new("/bin/true").spawn().is_ok()),
                ("thread", std::thread::Builder::new().spawn(|| ()).is_ok()),
            ];
            (enclosed, memory, tries)
        });
        let (enclosed, memory, tries) = tried.join().expect("it holds");
        assert!(enclosed.calls && memory == 8 << 20);
        for (what, done) in tries {
            assert!(!done, "{what}");
        }
        let mut byte = [0];
        mine.read_exact(&mut byte).expect("what was written");
        assert!(File::open(folder.path().join("master.key")).is_ok(), "others keep what they have");
    }

    #[test]
    fn a_probe_takes_nothing_from_the_others() {
        assert!(probe().calls);
        assert!(File::open("/proc/self/maps").is_ok());
    }
}
