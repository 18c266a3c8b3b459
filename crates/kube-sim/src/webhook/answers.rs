//! What a request has been answered so far, while it is tried again and again.

use std::collections::HashMap;
use std::hash::Hash;

/// For so many attempts an answer is kept that none of them takes: one that ends early, for want of another, takes few.
const KEPT: u64 = 16;

/// The answers to questions. One about an object that has changed since is never taken again, so what no attempt has taken for some
/// time is forgotten: a request that is tried all the time holds no more than some attempts ask for.
pub(crate) struct Answers<Q, A> {
    attempt: u64,
    /// With the last attempt that took it.
    all: HashMap<Q, (A, u64)>,
}

impl<Q, A> Default for Answers<Q, A> {
    fn default() -> Self {
        Self {
            attempt: 0,
            all: HashMap::new(),
        }
    }
}

impl<Q: Eq + Hash, A> Answers<Q, A> {
    /// Begins an attempt.
    pub(crate) fn begin(&mut self) {
        self.attempt += 1;
        let attempt = self.attempt;
        self.all.retain(|_, (_, taken)| attempt - *taken <= KEPT);
    }

    pub(crate) fn get(&mut self, question: &Q) -> Option<&A> {
        let (answer, taken) = self.all.get_mut(question)?;
        *taken = self.attempt;
        Some(answer)
    }

    pub(crate) fn insert(&mut self, question: Q, answer: A) {
        self.all.insert(question, (answer, self.attempt));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_attempt_takes_is_forgotten() {
        let mut answers = Answers::default();
        answers.insert(0, "taken each time");
        for attempt in 1..1_000 {
            answers.begin();
            assert_eq!(answers.get(&0), Some(&"taken each time"));
            answers.insert(attempt, "of an object that has changed since");
        }
        assert!(answers.all.len() < 20, "{}", answers.all.len());
        assert!(answers.get(&998).is_some() && answers.get(&1).is_none());
    }
}
