//! Takes away from a failing schedule what it does not need to fail.

use super::run::run;
use super::schedule::{Effect, Fault, Schedule, Site};
use super::world::Outcome;
use super::{Broken, Simulation};

/// So many runs at the most.
const RUNS: usize = 200;
/// The times that are tried in place of longer ones, in milliseconds.
const SHORT: [u64; 3] = [100, 1000, 10_000];

/// A failing schedule, as small as it was made, and what happens in it. None if it does not fail again: then something decides
/// that the seed does not.
pub(super) fn shrink(simulation: &Simulation, seed: u64, outcome: &Outcome) -> Option<(Schedule, Outcome)> {
    let mut shrinking = Shrinking {
        simulation,
        broken: outcome.broken.clone()?,
        runs: 0,
        best: (Schedule::of_seed(seed), None),
    };
    let all = Schedule {
        seed,
        faults: Some(outcome.happened.clone()),
        even: false,
    };
    if !shrinking.still_fails(all) {
        return None;
    }
    shrinking.take_faults_away();
    let even = Schedule {
        even: true,
        ..shrinking.best.0.clone()
    };
    if shrinking.still_fails(even) {
        shrinking.take_faults_away();
    }
    shrinking.shorten();
    let (schedule, outcome) = shrinking.best;
    Some((schedule, outcome?))
}

/// The faults that are left when a crash is taken away: what happened in the start after it now happens in the one before.
fn renumbered(left: &[Fault], taken: &[Fault]) -> Option<Vec<Fault>> {
    let [Fault { site, effect }] = taken else {
        return None;
    };
    let crashed = match (site, effect) {
        (
            Site::Request(request) | Site::Event(request, _),
            Effect::CrashBefore(_) | Effect::CrashAfter(_) | Effect::Crash(_),
        ) => request.life,
        _ => return None,
    };
    let mut left = left.to_vec();
    for fault in &mut left {
        if let Site::Request(request) | Site::Event(request, _) = &mut fault.site
            && request.life.replica == crashed.replica
            && request.life.start > crashed.start
        {
            request.life.start -= 1;
        }
    }
    Some(left)
}

struct Shrinking<'a> {
    simulation: &'a Simulation,
    /// Why it failed: another failure is not the same.
    broken: Broken,
    runs: usize,
    best: (Schedule, Option<Outcome>),
}

impl Shrinking<'_> {
    fn faults(&self) -> Vec<Fault> {
        self.best.0.faults.clone().unwrap_or_default()
    }

    /// Whether this schedule fails as the first one did; then it is the best so far.
    fn still_fails(&mut self, schedule: Schedule) -> bool {
        if self.runs >= RUNS {
            return false;
        }
        self.runs += 1;
        let outcome = run(self.simulation, &schedule);
        let same = outcome
            .broken
            .as_ref()
            .is_some_and(|broken| broken.is_like(&self.broken));
        if same {
            // What did not take effect is not needed.
            let faults = schedule.faults.map(|_| outcome.happened.clone());
            self.best = (Schedule { faults, ..schedule }, Some(outcome));
        }
        same
    }

    fn with_faults(&self, faults: Vec<Fault>) -> Schedule {
        Schedule {
            faults: Some(faults),
            ..self.best.0.clone()
        }
    }

    /// Halves first, then single ones.
    fn take_faults_away(&mut self) {
        let mut size = self.faults().len();
        while size > 0 {
            let mut from = 0;
            while from < self.faults().len() {
                let mut fewer = self.faults();
                let taken: Vec<Fault> = fewer.drain(from..(from + size).min(fewer.len())).collect();
                let renumbered = renumbered(&fewer, &taken);
                let fails = self.still_fails(self.with_faults(fewer))
                    || renumbered.is_some_and(|fewer| self.still_fails(self.with_faults(fewer)));
                if !fails {
                    from += size;
                }
            }
            size /= 2;
        }
    }

    fn shorten(&mut self) {
        for place in 0..self.faults().len() {
            for time in SHORT {
                let mut faults = self.faults();
                let Some(fault) = faults.get_mut(place) else { break };
                if fault.effect.time().is_none_or(|now| now <= time) {
                    break;
                }
                fault.effect = fault.effect.lasting(time);
                if self.still_fails(self.with_faults(faults)) {
                    break;
                }
            }
        }
    }
}
