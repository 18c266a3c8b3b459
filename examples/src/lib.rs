//! Small programs to copy from: see the files beside `Cargo.toml`.
//!
//! [`sample-controller`](https://github.com/kube-informer/kube-informer/tree/main/examples/sample-controller) is a whole program to start a
//! project from.
//!
//! Each runs against the cluster of your kubeconfig. Without one, start the simulator:
//!
//! ```sh
//! cargo run --release -p kube-sim -- --nodes 10 --pods 200 --churn 5 --kubeconfig sim.json &
//! KUBECONFIG=sim.json cargo run -p kube-informer-examples --example first-informer
//! ```
