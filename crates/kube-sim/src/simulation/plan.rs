//! What a schedule decides: which faults, and how long everything takes.

use std::collections::BTreeMap;

use super::chance::{Chance, happens, time};
use super::request::Asked;
use super::schedule::{Effect, FaultKind, RequestSite, Schedule, Site};

/// The longest a program is down, and the longest a request or an answer is late, in milliseconds.
const DOWN: u64 = 30_000;
/// The shortest a program is down: what it has sent has arrived by then.
const SHORTEST_DOWN: u64 = 100;
const LATE: u64 = 30_000;
/// The longest a server lags, a watch is silent and a program is cut off, in milliseconds.
const SILENT: u64 = 60_000;
/// A server lags by so many changes at the most.
const LAG: u64 = 8;
/// How many requests of a schedule fail: one of these shares.
const SHARES: [f64; 6] = [0.01, 0.03, 0.06, 0.12, 0.2, 0.35];

fn down(rng: &mut fastrand::Rng) -> u64 {
    time(rng, DOWN).max(SHORTEST_DOWN)
}

/// The decisions of one schedule.
pub(super) struct Plan {
    chance: Chance,
    even: bool,
    faults: Faults,
}

enum Faults {
    /// Chosen as they come: this share of the requests fails, by these kinds with these weights.
    Chosen {
        share: f64,
        weights: BTreeMap<FaultKind, f64>,
    },
    Listed(BTreeMap<Site, Effect>),
}

impl Plan {
    pub(super) fn new(schedule: &Schedule, kinds: &[FaultKind]) -> Self {
        let chance = Chance(schedule.seed);
        let faults = match &schedule.faults {
            Some(faults) => Faults::Listed(
                faults
                    .iter()
                    .map(|fault| (fault.site.clone(), fault.effect))
                    .collect(),
            ),
            None => {
                // Each schedule has some of the kinds, and few or many faults: schedules that have a bit of everything are all alike.
                let mut rng = chance.of("faults");
                let share = SHARES[rng.usize(..SHARES.len())];
                let some = kinds.iter().filter_map(|kind| {
                    let weight = rng.f64();
                    rng.bool().then_some((*kind, weight))
                });
                let mut weights: BTreeMap<_, _> = some.collect();
                if weights.is_empty() && !kinds.is_empty() {
                    weights.insert(kinds[rng.usize(..kinds.len())], 1.0);
                }
                Faults::Chosen { share, weights }
            }
        };
        Self {
            chance,
            even: schedule.even,
            faults,
        }
    }

    /// What goes wrong with a request.
    pub(super) fn at_request(&self, site: &RequestSite, asked: &Asked) -> Option<Effect> {
        let writes = asked.writes();
        let fits = |kind: &FaultKind| match kind {
            FaultKind::Crash | FaultKind::LostRequest | FaultKind::Refusal | FaultKind::Delay => true,
            FaultKind::LostAnswer => writes,
            FaultKind::Conflict => asked.conditional,
            FaultKind::Lag => asked.reads(),
            _ => false,
        };
        // What a write does is what there is to get wrong.
        let factor = if writes { 2.0 } else { 1.0 };
        self.choose(
            &Site::Request(site.clone()),
            factor,
            fits,
            |kind, rng| match kind {
                FaultKind::Crash if writes && rng.u8(..3) > 0 => Effect::CrashAfter(down(rng)),
                FaultKind::Crash => Effect::CrashBefore(down(rng)),
                FaultKind::LostRequest => Effect::LoseRequest,
                FaultKind::LostAnswer => Effect::LoseAnswer,
                FaultKind::Conflict => Effect::Conflict,
                FaultKind::Refusal => Effect::Refuse([429, 500, 503, 504][rng.usize(..4)]),
                FaultKind::Delay if rng.bool() => Effect::SlowRequest(time(rng, LATE)),
                FaultKind::Delay => Effect::SlowAnswer(time(rng, LATE)),
                _ => Effect::Lag(rng.u64(1..=LAG), time(rng, SILENT)),
            },
        )
        // A schedule that was made smaller, or written by hand, may list it for another request.
        .filter(|effect| *effect != Effect::Conflict || asked.conditional)
    }

    /// What goes wrong with an event of a watch, counted from 1.
    pub(super) fn at_event(&self, watch: &RequestSite, event: u32) -> Option<Effect> {
        let fits = |kind: &FaultKind| {
            matches!(
                kind,
                FaultKind::Crash | FaultKind::HeldWatch | FaultKind::CutWatch
            )
        };
        self.choose(
            &Site::Event(watch.clone(), event),
            1.0,
            fits,
            |kind, rng| match kind {
                FaultKind::Crash => Effect::Crash(down(rng)),
                FaultKind::HeldWatch => Effect::Hold(time(rng, SILENT)),
                _ if rng.bool() => Effect::Cut,
                _ => Effect::End,
            },
        )
    }

    /// What goes wrong at certain times, in their order: milliseconds up to `period`.
    pub(super) fn at_times(&self, replicas: u32, period: u64) -> Vec<(u64, Site, Effect)> {
        let mut all: Vec<_> = match &self.faults {
            Faults::Listed(faults) => faults
                .iter()
                .filter_map(|(site, effect)| match site {
                    Site::Replica(_, at) | Site::Server(at) => Some((*at, site.clone(), *effect)),
                    Site::Request(_) | Site::Event(..) => None,
                })
                .collect(),
            Faults::Chosen { weights, .. } => {
                let mut rng = self.chance.of("times");
                let mut chosen = Vec::new();
                for (kind, weight) in weights {
                    for _ in 0..2 {
                        // Drawn in any case, so that each draw has its place.
                        let (at, replica) = (rng.u64(1..=period.max(1)), rng.u32(..replicas.max(1)));
                        let (lasts, wanted) = (time(&mut rng, SILENT), happens(&mut rng, *weight));
                        let (site, effect) = match kind {
                            FaultKind::Crash => (
                                Site::Replica(replica, at),
                                Effect::Crash(lasts.clamp(SHORTEST_DOWN, DOWN)),
                            ),
                            FaultKind::Partition => (Site::Replica(replica, at), Effect::Partition(lasts)),
                            FaultKind::ServerRestart => (Site::Server(at), Effect::Restart),
                            FaultKind::CutWatch => (Site::Server(at), Effect::CutAll),
                            _ => continue,
                        };
                        if wanted {
                            chosen.push((at, site, effect));
                        }
                    }
                }
                chosen
            }
        };
        all.sort();
        all
    }

    fn choose(
        &self,
        site: &Site,
        factor: f64,
        fits: impl Fn(&FaultKind) -> bool,
        effect: impl FnOnce(FaultKind, &mut fastrand::Rng) -> Effect,
    ) -> Option<Effect> {
        let (share, weights) = match &self.faults {
            Faults::Listed(faults) => return faults.get(site).copied(),
            Faults::Chosen { share, weights } => (*share, weights),
        };
        let mut rng = self.chance.of(&site.to_string());
        if !happens(&mut rng, share * factor) {
            return None;
        }
        let fitting = || weights.iter().filter(|(kind, _)| fits(kind));
        let mut left = rng.f64() * fitting().map(|(_, weight)| weight).sum::<f64>();
        let (kind, _) = fitting().find(|(_, weight)| {
            left -= *weight;
            left <= 0.0
        })?;
        Some(effect(*kind, &mut rng))
    }

    /// How long a request and its answer travel, in milliseconds.
    pub(super) fn transit(&self, site: &str) -> (u64, u64) {
        match self.even {
            true => (5, 5),
            false => {
                let mut rng = self.chance.of(&format!("transit {site}"));
                (time(&mut rng, 30), time(&mut rng, 30))
            }
        }
    }

    /// How long an event of a watch travels, in milliseconds.
    pub(super) fn event_transit(&self, watch: &str, event: u32) -> u64 {
        match self.even {
            true => 5,
            false => time(&mut self.chance.of(&format!("transit {watch}.{event}")), 200),
        }
    }

    /// How long the workload waits before its `nth` request, in milliseconds.
    pub(super) fn pause(&self, nth: u32) -> u64 {
        match self.even {
            true => 1000,
            false => time(&mut self.chance.of(&format!("pause {nth}")), 16_000),
        }
    }

    /// How long after the first replica another one starts, in milliseconds.
    pub(super) fn first_start(&self, replica: u32) -> u64 {
        match (replica, self.even) {
            (0, _) => 0,
            (_, true) => 10,
            (_, false) => time(&mut self.chance.of(&format!("start {replica}")), 10_000),
        }
    }
}
