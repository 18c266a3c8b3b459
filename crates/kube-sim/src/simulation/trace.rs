//! What happened in a run, for people to read.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use super::schedule::Life;

/// The most events that a trace holds, of its beginning and of its end.
const LONGEST: usize = 10_000;

/// What happened in a run, in order: requests as the server took them, with what came of them; events of watches as the program
/// got them; faults, crashes and starts.
///
/// Written with one line for each event (what repeats itself is written once): the time since the start, who, and what. `p0.1` is the first replica (0) after its first
/// restart (1). It shows names, codes and resource versions, never the content of an object.
///
/// ```text
///     0.009 s  p0.0      list configmaps in default, any version -> 200, 0 items at 1006
///     0.018 s  p0.0      create configmaps in default -> 201, default/web at 1007
///     0.018 s  p0.0      crashes before that answer; down for 0.500 s
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    events: Vec<Event>,
    /// The last events, if there are too many.
    last: VecDeque<Event>,
    /// How many were between them.
    left_out: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Event {
    at: Duration,
    who: Who,
    what: String,
}

/// The most events that are recognized as a round which repeats itself.
const LONGEST_ROUND: usize = 8;
/// A round that comes at least so often is written once.
const REPEATED: usize = 3;

/// How many of the next events are a round, and how often it comes.
fn rounds(events: &[Event]) -> (usize, usize) {
    let same = |one: &[Event], other: &[Event]| {
        one.iter()
            .zip(other)
            .all(|(one, other)| (one.who, &one.what) == (other.who, &other.what))
    };
    let repeated = (1..=LONGEST_ROUND.min(events.len())).find_map(|round| {
        let mut all = events.chunks_exact(round);
        let first = all.next()?;
        let times = 1 + all.take_while(|next| same(first, next)).count();
        (times >= REPEATED).then_some((round, times))
    });
    repeated.unwrap_or((1, 1))
}

/// Who does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Program(Life),
    Workload,
    Server,
    Simulation,
}

impl Trace {
    pub(super) fn add(&mut self, at: Duration, who: Who, what: String) {
        let event = Event { at, who, what };
        if self.events.len() < LONGEST {
            return self.events.push(event);
        }
        if self.last.len() == LONGEST {
            self.last.pop_front();
            self.left_out += 1;
        }
        self.last.push_back(event);
    }

    /// The number of events.
    pub fn len(&self) -> usize {
        self.events.len() + self.left_out + self.last.len()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(life) => f.pad(&life.to_string()),
            Self::Workload => f.pad("workload"),
            Self::Server => f.pad("server"),
            Self::Simulation => f.pad("-"),
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_events(f, &self.events)?;
        match self.left_out {
            0 => {}
            more => writeln!(f, "{:>13}{more} events are left out here", "")?,
        }
        let (last, rest) = self.last.as_slices();
        write_events(f, last)?;
        write_events(f, rest)
    }
}

fn write_events(f: &mut fmt::Formatter<'_>, mut left: &[Event]) -> fmt::Result {
    while !left.is_empty() {
        let (round, times) = rounds(left);
        for event in &left[..round] {
            let (at, who) = (event.at.as_secs_f64(), event.who);
            writeln!(f, "{at:>9.3} s  {who:<8}  {}", event.what)?;
        }
        let (all, rest) = left.split_at(round * times);
        if let (2.., Some(last)) = (times, all.last()) {
            let (more, until) = (times - 1, last.at.as_secs_f64());
            writeln!(f, "{:>13}and so {more} more times, until {until:.3} s", "")?;
        }
        left = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_that_repeat_themselves_are_written_once() {
        let mut trace = Trace::default();
        for (second, what) in ["start", "a", "b", "a", "b", "a", "b", "c", "c"]
            .into_iter()
            .enumerate()
        {
            trace.add(Duration::from_secs(second as u64), Who::Workload, what.into());
        }
        let lines = [
            "    0.000 s  workload  start",
            "    1.000 s  workload  a",
            "    2.000 s  workload  b",
            "             and so 2 more times, until 6.000 s",
            "    7.000 s  workload  c",
            "    8.000 s  workload  c",
        ];
        assert_eq!(trace.to_string(), lines.map(|line| format!("{line}\n")).concat());
        assert_eq!(trace.len(), 9);
    }

    #[test]
    fn a_long_trace_has_its_beginning_and_its_end() {
        let mut trace = Trace::default();
        let all = 2 * LONGEST + 5;
        for number in 0..all {
            trace.add(Duration::ZERO, Who::Server, format!("event {number}"));
        }
        assert_eq!(trace.len(), all);
        let text = trace.to_string();
        for part in ["event 0\n", "             5 events are left out here\n"] {
            assert!(text.contains(part), "{part}");
        }
        assert!(text.ends_with(&format!("event {}\n", all - 1)));
    }
}
