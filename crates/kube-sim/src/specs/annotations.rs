//! Annotations that said which profiles restrict containers, before there were fields.

/// What is before the name of a container.
pub(crate) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";

pub(crate) const SECCOMP: &str = "seccomp.security.alpha.kubernetes.io/pod";

/// What is before the name of a container.
pub(crate) const SECCOMP_OF_CONTAINERS: &str = "container.seccomp.security.alpha.kubernetes.io/";
