//! The rules of a server.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::rule::{Effect, Facts, Meeting, Pattern, Rule};
use crate::target::Target;

/// The rules in effect, and how far they are.
pub(crate) struct Rules {
    state: Mutex<State>,
    /// Whether there are rules: most clusters never have any.
    any: AtomicBool,
    /// Wakes the watches to look for what changed.
    pub(super) changed: watch::Sender<()>,
}

struct State {
    next: u64,
    rules: Vec<Active>,
    /// Rules that are over, for their handles: how often they acted.
    ended: VecDeque<(u64, u64)>,
    /// Resources whose watches were cut, and the number of the cut.
    cuts: Vec<(Pattern, u64)>,
    cut: u64,
    seed: u64,
}

struct Active {
    id: u64,
    rule: Rule,
    met: u64,
    hits: u64,
    rng: StdRng,
}

/// How many rules that are over are remembered.
const REMEMBERED: usize = 1024;

impl Rules {
    pub(crate) fn new(seed: u64) -> Self {
        let state = State {
            next: 1,
            rules: Vec::new(),
            ended: VecDeque::new(),
            cuts: Vec::new(),
            cut: 0,
            seed,
        };
        Self {
            state: Mutex::new(state),
            any: AtomicBool::new(false),
            changed: watch::Sender::new(()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, rule: Rule) -> u64 {
        let id = {
            let mut state = self.lock();
            let id = state.next;
            state.next += 1;
            let rng = StdRng::seed_from_u64(state.seed ^ id.rotate_left(32));
            state.rules.push(Active {
                id,
                rule,
                met: 0,
                hits: 0,
                rng,
            });
            self.any.store(true, Ordering::Release);
            id
        };
        self.changed.send_replace(());
        id
    }

    pub(super) fn retain(&self, keep: impl Fn(u64) -> bool) {
        self.lock().end(|active| !keep(active.id));
        self.changed.send_replace(());
    }

    pub(super) fn hits(&self, id: u64) -> u64 {
        let state = self.lock();
        let active = state.rules.iter().find(|active| active.id == id);
        let ended = || state.ended.iter().find(|(other, _)| *other == id);
        active
            .map(|active| active.hits)
            .or_else(|| Some(ended()?.1))
            .unwrap_or(0)
    }

    pub(crate) fn are_there(&self) -> bool {
        self.any.load(Ordering::Acquire)
    }

    /// What becomes of a request.
    pub(crate) fn meet(&self, target: &Target, facts: &Facts) -> Meeting {
        let mut meeting = Meeting::default();
        if !self.are_there() {
            return meeting;
        }
        let mut state = self.lock();
        for active in &mut state.rules {
            let rule = &active.rule;
            if !rule.fits(target, facts) || meeting.is_decided_for(rule) {
                continue;
            }
            active.met += 1;
            let spent = rule.times.is_some_and(|times| active.hits >= times);
            let unlucky = rule.probability.is_some_and(|p| !active.rng.random_bool(p));
            if active.met <= rule.skip || spent || unlucky {
                continue;
            }
            active.hits += 1;
            meeting.take(rule, target);
        }
        // A rule that holds watches ends with its handle: those it holds look for it.
        state.end(|active| {
            let holds = matches!(active.rule.effect, Effect::HoldWatches);
            !holds && active.rule.times.is_some_and(|times| active.hits >= times)
        });
        self.any.store(!state.rules.is_empty(), Ordering::Release);
        meeting
    }

    pub(super) fn cut(&self, resource: &str) {
        let pattern = Pattern::new(resource);
        {
            let mut state = self.lock();
            state.cut += 1;
            let cut = state.cut;
            state.cuts.retain(|(other, _)| *other != pattern);
            state.cuts.push((pattern, cut));
        }
        self.changed.send_replace(());
    }

    /// What watches ask for: whether they are held, and the last cut of their resource.
    pub(super) fn watched(&self, target: &Target, facts: &Facts) -> (bool, u64) {
        let state = self.lock();
        let held = state.rules.iter().any(|active| {
            matches!(active.rule.effect, Effect::HoldWatches) && active.rule.fits(target, facts)
        });
        let cuts = state.cuts.iter().filter(|(pattern, _)| pattern.fits(target));
        (held, cuts.map(|(_, cut)| *cut).max().unwrap_or(0))
    }

    /// The rules in effect, with what they have done.
    pub(super) fn list(&self) -> Value {
        let state = self.lock();
        let rules = state.rules.iter().map(|active| {
            let mut rule = serde_json::to_value(&active.rule).unwrap_or_default();
            rule["id"] = active.id.into();
            rule["hits"] = active.hits.into();
            rule
        });
        json!({"faults": rules.collect::<Vec<_>>()})
    }

    pub(super) fn is_active(&self, id: u64) -> bool {
        self.lock().rules.iter().any(|active| active.id == id)
    }
}

impl State {
    fn end(&mut self, over: impl Fn(&Active) -> bool) {
        let ended = &mut self.ended;
        self.rules.retain(|active| {
            let over = over(active);
            if over {
                ended.push_back((active.id, active.hits));
            }
            !over
        });
        while self.ended.len() > REMEMBERED {
            self.ended.pop_front();
        }
    }
}
