//! PodSecurity: what the pods of a namespace may do on their nodes, as the labels of the namespace say.
//!
//! The levels are Kubernetes' [Pod Security Standards], the labels those of [Pod Security Admission]. `checks` has one function for
//! each rule of a level.
//!
//! [Pod Security Standards]: https://kubernetes.io/docs/concepts/security/pod-security-standards/
//! [Pod Security Admission]: https://kubernetes.io/docs/concepts/security/pod-security-admission/

mod checks;

use std::fmt;

use serde_json::Value;

use crate::meta::{Object, metadata};
use crate::object::Stored;
use crate::status::{Cause, quoted};

/// What all labels begin with.
const PREFIX: &str = "pod-security.kubernetes.io/";

/// How much pods may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Everything.
    Privileged,
    /// Nothing that is known to let a pod out of its containers.
    Baseline,
    /// Only what hardened pods do.
    Restricted,
}

/// The version of Kubernetes whose rules are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// `v1.x`
    Minor(i64),
    Latest,
}

impl Version {
    /// Whether the rules are those of v1.`minor` or later.
    fn is_since(self, minor: i64) -> bool {
        match self {
            Version::Minor(meant) => meant >= minor,
            Version::Latest => true,
        }
    }
}

/// A level as it was in a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standard {
    pub(crate) level: Level,
    version: Version,
}

/// As messages name it: `restricted:v1.30`.
impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Privileged => "privileged",
            Level::Baseline => "baseline",
            Level::Restricted => "restricted",
        };
        match self.version {
            Version::Minor(minor) => write!(f, "{level}:v1.{minor}"),
            Version::Latest => write!(f, "{level}:latest"),
        }
    }
}

impl Standard {
    /// What labels say, of which either may be missing.
    fn of(level: Option<Level>, version: Option<Version>) -> Self {
        Self {
            level: level.unwrap_or(Level::Privileged),
            version: version.unwrap_or(Version::Latest),
        }
    }

    /// Whether what was held against `old` need not be held against this one.
    pub(crate) fn allows_all_of(self, old: Self) -> bool {
        self == old
            || self.level == Level::Privileged
            || (self.version == old.version && self.level <= old.level)
    }

    /// What a pod with these annotations and this spec does that it may not.
    pub(crate) fn violations(self, annotations: &Value, spec: &Value) -> Vec<Violation> {
        checks::run(self.level, self.version, annotations, spec)
    }
}

/// What a pod does that it may not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// In a few words.
    reason: &'static str,
    /// Who does what.
    detail: String,
}

/// All that a pod does, for who has sent it.
pub(crate) fn in_detail(violations: &[Violation]) -> String {
    let texts = violations.iter().map(|v| format!("{} ({})", v.reason, v.detail));
    texts.collect::<Vec<_>>().join(", ")
}

/// All that a pod does, in a few words.
pub(crate) fn in_short(violations: &[Violation]) -> String {
    let reasons: Vec<_> = violations.iter().map(|v| v.reason).collect();
    reasons.join(", ")
}

/// What the labels of a namespace say, and what is wrong with them.
pub(crate) struct Policy {
    /// Pods that violate it are refused.
    pub(crate) enforced: Standard,
    /// Who sends a pod that violates it, or a template of such pods, is warned.
    pub(crate) warned: Standard,
    pub(crate) faults: Vec<Cause>,
}

impl Policy {
    /// That of no labels: everything is allowed.
    pub(crate) fn none() -> Self {
        Self::read(|_| None)
    }

    /// That of a namespace, or of one that is to be.
    pub(crate) fn of(namespace: &Object) -> Self {
        let labels = metadata(namespace).get("labels");
        Self::read(|name| labels?.get(name)?.as_str())
    }

    pub(crate) fn of_stored(namespace: &Stored) -> Self {
        Self::read(|name| namespace.label(name))
    }

    /// `audit` labels have to be right, and say nothing else: nobody reads an audit log here.
    fn read<'a>(label: impl Fn(&str) -> Option<&'a str>) -> Self {
        let mut faults = Vec::new();
        let mut read = |mode: &str, in_doubt: Level| {
            let name = format!("{PREFIX}{mode}");
            let known = faults.len();
            let level = label(&name).map(|given| {
                read_level(given).unwrap_or_else(|| {
                    faults.push(fault(
                        &name,
                        given,
                        "must be one of privileged, baseline, restricted",
                    ));
                    in_doubt
                })
            });
            let is_clear = faults.len() == known;
            let name = format!("{PREFIX}{mode}-version");
            let version = label(&name).map(|given| {
                read_version(given).unwrap_or_else(|| {
                    faults.push(fault(&name, given, "must be \"latest\" or \"v1.x\""));
                    Version::Latest
                })
            });
            (level, version, is_clear)
        };
        let (level, version, is_clear) = read("enforce", Level::Restricted);
        let enforced = Standard::of(level, version);
        read("audit", Level::Privileged);
        let (level, version, _) = read("warn", Level::Privileged);
        let mut warned = Standard::of(level, version);
        // Who would be refused a pod is warned of a template of it, unless the labels say something else.
        if level.is_none() && is_clear && enforced.level > warned.level {
            warned.level = enforced.level;
            warned.version = version.unwrap_or(enforced.version);
        }
        Self {
            enforced,
            warned,
            faults,
        }
    }
}

fn fault(label: &str, given: &str, why: &str) -> Cause {
    Cause::invalid(format!("metadata.labels[{label}]"), quoted(given), why)
}

fn read_level(text: &str) -> Option<Level> {
    match text {
        "privileged" => Some(Level::Privileged),
        "baseline" => Some(Level::Baseline),
        "restricted" => Some(Level::Restricted),
        _ => None,
    }
}

fn read_version(text: &str) -> Option<Version> {
    if text == "latest" {
        return Some(Version::Latest);
    }
    let minor = text.strip_prefix("v1.")?;
    let is_number = minor.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = minor.len() > 1 && minor.starts_with('0');
    let minor = minor.parse().ok().filter(|_| is_number && !is_padded)?;
    Some(Version::Minor(minor))
}
