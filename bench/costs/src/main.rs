//! What the hot paths cost: runs each of them and prints a line of JSON for each, with its allocations.
//!
//! `costs [PATH]` runs all paths, or those whose name begins with `PATH`. Each is run once to warm up, then once more inside
//! [`costs_measured`]. So callgrind, told to collect inside that function only and to dump after it
//! (`--toggle-collect=costs_measured --dump-after=costs_measured`), writes the instructions of one path after the other.
//! `cargo xtask costs` does both and compares them with what is recorded in `COSTS.md`.
//!
//! Everything runs on this thread, on one processor, on tokio's paused clock: nothing depends on the machine but what the
//! processor can do ([`processor`]).

mod controller;
#[path = "../../counting.rs"]
mod counting;
mod form;
mod informer;
mod meter;
mod objects;
mod queue;
mod server;
mod store;
mod wire;

use meter::Meter;

fn main() {
    one_processor();
    println!("{}", serde_json::json!({"processor": processor()}));
    let mut meter = Meter::new(std::env::args().nth(1));
    wire::measure(&mut meter);
    form::measure(&mut meter);
    store::measure(&mut meter);
    queue::measure(&mut meter);
    informer::measure(&mut meter);
    controller::measure(&mut meter);
}

/// Lets this process use one processor only: with more, kube-informer decodes bursts on several threads.
fn one_processor() {
    #[cfg(target_os = "linux")]
    {
        use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
        use nix::unistd::Pid;
        let this = Pid::from_raw(0);
        let allowed = sched_getaffinity(this).expect("the processors that this process may use");
        let first = (0..CpuSet::count()).find(|&cpu| allowed.is_set(cpu).unwrap_or(false));
        let mut one = CpuSet::new();
        one.set(first.expect("there is one")).expect("it is in the set");
        sched_setaffinity(this, &one).expect("it may be used");
    }
}

/// What the processor can do of what the library's dependencies ask for at run time. Under valgrind: what that shows.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("pclmulqdq", is_x86_feature_detected!("pclmulqdq")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("bmi1", is_x86_feature_detected!("bmi1")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("f16c", is_x86_feature_detected!("f16c")),
        ("fma", is_x86_feature_detected!("fma")),
        ("lzcnt", is_x86_feature_detected!("lzcnt")),
        ("movbe", is_x86_feature_detected!("movbe")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let found: [(&str, bool); 0] = [];
    let names: Vec<&str> = found
        .into_iter()
        .filter_map(|(name, has)| has.then_some(name))
        .collect();
    names.join(" ")
}
