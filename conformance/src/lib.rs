//! What it takes to test against a real Kubernetes API server.
//!
//! [`real_server`] starts one: etcd and kube-apiserver as processes of their own, on loopback, gone with the test.
//! [`cluster`] is for tests that any API server can answer; [`program`] runs client-go's informer, to be compared with.
//! `conformance/run` builds all of them and runs all tests that need them; see the README beside it.

pub mod cluster;
pub mod program;
pub mod real_server;

use std::path::PathBuf;

/// Where programs are kept that take long to build: in the user's cache folder.
pub fn cache_folder() -> PathBuf {
    let home = || std::env::home_dir().unwrap_or_default().join(".cache");
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    cache.map_or_else(home, PathBuf::from).join("kube-informer")
}
