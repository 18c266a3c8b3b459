//! What can be measured.

use clap::ValueEnum;

/// One case. Each has a file of lines, and a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Case {
    /// Memory and CPU time of the first sync, over the number of objects
    Size,
    /// Objects that change: at a rate, and as many at once
    Changes,
    /// From the server's write to the call of the handler
    Latency,
    /// Reads of a cache whose objects change
    Reads,
    /// A list after an expired watch, when nothing has changed
    Relist,
    /// Gets and lists by label, over the number of objects, beside hash maps; ours only
    Gets,
    /// kube-workqueue and client-go's workqueue
    Queue,
    /// What one more handler costs
    Handlers,
    /// kube-controller, kube-rs's Controller and controller-runtime
    Controllers,
    /// A start from a saved cache; ours only
    Warm,
    /// kube-sim itself: its start, writes, lists and watches
    Simulator,
    /// Sync, changes and latency on a real kube-apiserver with etcd
    Real,
}

impl Case {
    pub const ALL: [Self; 12] = [
        Self::Size,
        Self::Changes,
        Self::Latency,
        Self::Reads,
        Self::Relist,
        Self::Gets,
        Self::Queue,
        Self::Handlers,
        Self::Controllers,
        Self::Warm,
        Self::Simulator,
        Self::Real,
    ];

    /// The name of its file, and for `--only`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Changes => "changes",
            Self::Latency => "latency",
            Self::Reads => "reads",
            Self::Relist => "relist",
            Self::Gets => "gets",
            Self::Queue => "queue",
            Self::Handlers => "handlers",
            Self::Controllers => "controllers",
            Self::Warm => "warm",
            Self::Simulator => "simulator",
            Self::Real => "real",
        }
    }

    /// What `informer-client` is to do for it after the sync.
    pub fn phases(self) -> &'static [&'static str] {
        match self {
            Self::Changes => &["churn", "burst"],
            Self::Latency => &["latency"],
            Self::Reads => &["reads"],
            Self::Relist => &["relist"],
            Self::Real => &["churn", "latency"],
            _ => &[],
        }
    }
}
