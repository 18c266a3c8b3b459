//! The API, called in the process: what a real kube-apiserver 1.36 answers, on a clock that tests can hold.

mod access;
mod admission;
mod apply;
mod client;
mod control;
mod conversion_answers;
mod conversions;
mod costs;
mod definitions;
mod details;
mod faults;
mod forms;
mod limits;
mod list;
mod media;
mod mutations;
mod pods;
mod policies;
mod quotas;
mod schemas;
mod shards;
mod subresources;
mod text;
mod watch;
mod workload;
mod write;
