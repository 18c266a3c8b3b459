//! Which shards a replica takes and gives up.

use super::members::identity_of;
use kube_informer::selector::shard_hash;
use std::collections::BTreeSet;

/// What a replica sees of the group.
#[derive(Debug, Default, Clone)]
pub(super) struct View<'a> {
    pub(super) shards: u16,
    /// The terms that take part.
    pub(super) active: BTreeSet<&'a str>,
    /// The shards that it owns and works on.
    pub(super) kept: BTreeSet<u16>,
    /// The shards that it owns and is giving up.
    pub(super) leaving: BTreeSet<u16>,
    pub(super) free: BTreeSet<u16>,
    /// The free ones that others should have taken by now.
    pub(super) overdue: BTreeSet<u16>,
    /// It gives nothing up for now, because others did not take what was theirs.
    pub(super) keeps: bool,
}

/// What it does.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Moves {
    /// Free shards that it takes.
    pub(super) take: BTreeSet<u16>,
    /// Shards that it was giving up, and keeps.
    pub(super) keep: BTreeSet<u16>,
    pub(super) give_up: BTreeSet<u16>,
    /// Whether it then has more than its share, because others do not take theirs.
    pub(super) steps_in: bool,
}

/// How many shards a term has among those that are active; all get the same, but for one.
pub(super) fn share(shards: u16, active: &BTreeSet<&str>, term: &str) -> usize {
    let Some(all) = (!active.is_empty()).then_some(active.len()) else {
        return 0;
    };
    if !active.contains(term) {
        return 0;
    }
    // Not by the rest of the term's name, which is random: it must not decide anything.
    let rank = |term: &str| (shard_hash(identity_of(term)), term.to_owned());
    let own = rank(term);
    let before = active.iter().filter(|other| rank(other) < own).count();
    let shards = usize::from(shards);
    shards / all + usize::from(before < shards % all)
}

impl View<'_> {
    pub(super) fn moves(&self, term: &str) -> Moves {
        let mut moves = Moves::default();
        // One that takes no part keeps what it works on, and takes nothing.
        if !self.active.contains(term) {
            return moves;
        }
        let share = share(self.shards, &self.active, term);
        let missing = share.saturating_sub(self.kept.len());
        moves.keep = self.leaving.iter().copied().take(missing).collect();
        let missing = missing - moves.keep.len();
        moves.take = self.free.iter().copied().take(missing).collect();
        let late: Vec<_> = self.overdue.difference(&moves.take).copied().collect();
        moves.steps_in = !late.is_empty();
        moves.take.extend(late);
        if self.keeps || moves.steps_in {
            moves.keep.clone_from(&self.leaving);
        } else {
            let excess = self.kept.len().saturating_sub(share);
            moves.give_up = self.kept.iter().rev().copied().take(excess).collect();
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_differ_by_one_and_are_everything() {
        let names: Vec<_> = (0..70).map(|number| format!("replica-{number}")).collect();
        for replicas in 1..=70 {
            let active: BTreeSet<_> = names[..replicas].iter().map(String::as_str).collect();
            let shares: Vec<_> = active.iter().map(|term| share(64, &active, term)).collect();
            assert_eq!(shares.iter().sum::<usize>(), 64);
            let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
            assert!(most - least <= 1);
        }
        assert_eq!(share(64, &["a"].into(), "b"), 0);
    }

    #[test]
    fn only_the_excess_is_given_up() {
        let view = View {
            shards: 8,
            active: ["a", "b"].into(),
            kept: (0..6).collect(),
            free: [7].into(),
            ..View::default()
        };
        let moves = view.moves("a");
        assert_eq!((moves.give_up, moves.take), ([4, 5].into(), [].into()));
    }

    #[test]
    fn what_was_being_given_up_is_kept_first() {
        let view = View {
            shards: 8,
            active: ["a"].into(),
            kept: (0..4).collect(),
            leaving: [4, 5].into(),
            free: [6, 7].into(),
            ..View::default()
        };
        let moves = view.moves("a");
        assert_eq!((moves.keep, moves.take), ([4, 5].into(), [6, 7].into()));
        assert!(!moves.steps_in);
    }

    #[test]
    fn who_steps_in_goes_on_with_what_it_was_giving_up() {
        let view = View {
            shards: 8,
            active: ["a", "b"].into(),
            kept: (0..4).collect(),
            leaving: [4, 5].into(),
            ..View::default()
        };
        assert_eq!(view.moves("a"), Moves::default());
        let keeps = |view: View<'_>| view.moves("a").keep;
        let overdue = View {
            free: [7].into(),
            overdue: [7].into(),
            ..view.clone()
        };
        assert_eq!(keeps(overdue), [4, 5].into());
        assert_eq!(keeps(View { keeps: true, ..view }), [4, 5].into());
    }

    #[test]
    fn what_nobody_takes_is_taken_over_the_share() {
        let view = View {
            shards: 8,
            active: ["a", "b"].into(),
            kept: (0..4).collect(),
            free: [6, 7].into(),
            overdue: [7].into(),
            ..View::default()
        };
        let moves = view.moves("a");
        assert_eq!(moves.take, [7].into());
        assert!(moves.steps_in);
        assert_eq!(view.moves("c"), Moves::default(), "it takes no part");
    }
}
