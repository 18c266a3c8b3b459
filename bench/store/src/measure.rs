//! Clocks.

use std::time::Duration;

/// The tenth percentile of some runs, each of which gives a duration: what a machine does that is not busy otherwise.
pub fn typical(runs: usize, mut run: impl FnMut() -> Duration) -> Duration {
    let [time] = typical_in_turn(runs, |_| run());
    time
}

/// The same of several structures, by number, which run in turn: a machine that is slow for a while is slow for all of them.
pub fn typical_in_turn<const N: usize>(runs: usize, mut run: impl FnMut(usize) -> Duration) -> [Duration; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..runs {
        for (number, times) in times.iter_mut().enumerate() {
            times.push(run(number));
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[runs / 10]
    })
}

/// The processor time that this thread takes for `work`: on a busy machine, what counts is not when it gets its turn.
pub fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = thread_time();
    let result = work();
    (thread_time() - start, result)
}

/// The processor time of this thread so far.
pub fn thread_time() -> Duration {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The processor time of all threads so far.
pub fn process_time() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn clock(clock: libc::clockid_t) -> Duration {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists and `now` is a valid place for its time.
    unsafe { libc::clock_gettime(clock, &mut now) };
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// How often this thread has waited for something, rather than lost its turn.
pub fn waits() -> i64 {
    // SAFETY: all zeroes is a valid value, and it is a valid place for the result.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
        usage.ru_nvcsw
    }
}

pub fn nanos_each(time: Duration, count: usize) -> f64 {
    time.as_nanos() as f64 / count as f64
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
