//! What it takes to test against a real Kubernetes API server.
//!
//! [`real_server`] starts one: etcd and kube-apiserver as processes of their own, on loopback, gone with the test.
//! `conformance/run` builds the two programs and runs all tests that need them; see the README beside it.
//! [`cluster`] is for tests that any API server can answer.

pub mod cluster;
pub mod real_server;
