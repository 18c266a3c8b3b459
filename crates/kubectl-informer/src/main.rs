//! The `kubectl informer` command.
fn main() {}
