//! Which types stand for which: whether one may be given where another one is wanted, by cel-go's rules.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::types::{LETTERS, Type};

/// A type of more parts is not told apart from others. Types can be made of themselves, twice each time (`{x: x}`).
const MOST_PARTS: usize = 1_000;

/// What is so deep in a type is not told apart: types are gone through by recursion, on any thread.
const DEEPEST: usize = 100;

/// So many parts of types are looked at for all expressions of an object.
const MOST_STEPS: usize = 10_000_000;

/// What is left of the steps for all expressions of an object.
#[derive(Clone, Debug)]
pub(super) struct Steps(Arc<AtomicUsize>);

impl Default for Steps {
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(MOST_STEPS)))
    }
}

impl Steps {
    /// Takes some; false if there are no more.
    fn take(&self, count: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed).saturating_sub(count);
        self.0.store(left, Ordering::Relaxed);
        left > 0
    }

    fn are_gone(&self) -> bool {
        !self.take(0)
    }
}

/// What the parameters of an expression stand for, as far as it is known.
pub(super) struct Substitutions {
    /// By the number above the letters.
    found: Vec<Option<Type>>,
    /// What was changed, and what it was, so that an attempt can be taken back.
    changes: Vec<(usize, Option<Type>)>,
    steps: Steps,
    /// How many types around are compared.
    depth: Cell<usize>,
}

/// What is known of parameters in the end, by their numbers above the letters.
pub(super) struct Known(Vec<Option<Type>>);

impl Known {
    /// What a parameter stands for: `dyn` if nothing is known of it.
    pub(super) fn resolved<'a>(&'a self, mut of: &'a Type) -> &'a Type {
        for _ in 0..=self.0.len() {
            let Type::Parameter(number) = of else {
                return of;
            };
            let at = number.checked_sub(LETTERS).map(|at| at as usize);
            match at.and_then(|at| self.0.get(at)?.as_ref()) {
                Some(found) => of = found,
                None => break,
            }
        }
        &Type::Dyn
    }
}

impl From<Substitutions> for Known {
    fn from(all: Substitutions) -> Self {
        Self(all.found)
    }
}

impl Substitutions {
    pub(super) fn new(steps: Steps) -> Self {
        Self {
            found: Vec::new(),
            changes: Vec::new(),
            steps,
            depth: Cell::new(0),
        }
    }

    /// A type that may become any.
    pub(super) fn fresh(&mut self) -> Type {
        Type::Parameter(self.fresh_many(1))
    }

    /// The first of so many types that may become any.
    pub(super) fn fresh_many(&mut self, count: usize) -> u32 {
        let first = self.found.len();
        self.found.resize(first + count, None);
        LETTERS + first as u32
    }

    /// Forgets the types from this one on, which nothing refers to.
    pub(super) fn forget(&mut self, first: u32) {
        self.found.truncate((first - LETTERS) as usize);
    }

    /// Whether nothing is compared any more: everything fits.
    pub(super) fn is_tired(&self) -> bool {
        self.steps.are_gone()
    }

    /// The type, or `dyn` if it has too many parts, or if they are too deep.
    pub(super) fn limited(&self, of: Type) -> Type {
        let mut open = vec![(&of, 0)];
        let mut count = 0;
        while let Some((part, depth)) = open.pop() {
            count += 1;
            if count > MOST_PARTS || depth > DEEPEST || !self.steps.take(1) {
                return Type::Dyn;
            }
            let part = self.resolved(part);
            open.extend(part.parts().into_iter().map(|part| (part, depth + 1)));
        }
        of
    }

    /// The type, or what it stands for.
    fn resolved<'a>(&'a self, mut of: &'a Type) -> &'a Type {
        while let Type::Parameter(number) = of
            && let Some(found) = self.get(*number)
            && self.steps.take(1)
        {
            of = found;
        }
        of
    }

    fn get(&self, number: u32) -> Option<&Type> {
        self.found.get(number.checked_sub(LETTERS)? as usize)?.as_ref()
    }

    fn set(&mut self, number: u32, of: Type) {
        // Where nothing is compared any more, a type may be made of itself.
        if self.is_tired() {
            return;
        }
        let Some(at) = number.checked_sub(LETTERS).map(|at| at as usize) else {
            return;
        };
        if let Some(found) = self.found.get_mut(at) {
            self.changes.push((at, found.replace(of)));
        }
    }

    /// The type, or what it stands for: `dyn` if nothing is known of it.
    pub(super) fn seen<'a>(&'a self, of: &'a Type) -> &'a Type {
        match self.resolved(of) {
            Type::Parameter(_) => &Type::Dyn,
            of => of,
        }
    }

    /// The type with everything that is known of it. What is not becomes `dyn` if it is wanted so.
    pub(super) fn applied(&self, of: &Type, unknown_is_dyn: bool) -> Type {
        let mut parts = MOST_PARTS;
        self.applied_within(of, unknown_is_dyn, DEEPEST, &mut parts)
    }

    fn applied_within(&self, of: &Type, unknown_is_dyn: bool, depth: usize, parts: &mut usize) -> Type {
        let of = self.resolved(of);
        if depth == 0 || *parts == 0 || !self.steps.take(1) {
            return Type::Dyn;
        }
        *parts -= 1;
        match of {
            Type::Parameter(_) if unknown_is_dyn => Type::Dyn,
            of => of.with_parts(&mut |part| self.applied_within(part, unknown_is_dyn, depth - 1, parts)),
        }
    }

    /// Whether each of some types may be given where the other one is wanted. If not, nothing was learnt.
    pub(super) fn all_assignable(&mut self, given: &[Type], wanted: &[Type]) -> bool {
        self.changes.clear();
        let fit = self.fit_all(given, wanted);
        if !fit {
            for (at, before) in self.changes.drain(..).rev() {
                self.found[at] = before;
            }
        }
        fit
    }

    pub(super) fn assignable(&mut self, given: &Type, wanted: &Type) -> bool {
        self.all_assignable(std::slice::from_ref(given), std::slice::from_ref(wanted))
    }

    fn fit_all(&mut self, given: &[Type], wanted: &[Type]) -> bool {
        given.len() == wanted.len()
            && given
                .iter()
                .zip(wanted)
                .all(|(given, wanted)| self.fit(given, wanted))
    }

    fn fit(&mut self, given: &Type, wanted: &Type) -> bool {
        // What parameters stand for can be parameters again, any number of times.
        if !self.steps.take(1) || self.depth.get() > 2 * DEEPEST {
            return true;
        }
        self.depth.set(self.depth.get() + 1);
        let fit = self.fit_within(given, wanted);
        self.depth.set(self.depth.get() - 1);
        fit
    }

    fn fit_within(&mut self, given: &Type, wanted: &Type) -> bool {
        if let Type::Parameter(number) = wanted {
            match self.stands_for(*number, given) {
                Stands::Yes => return true,
                Stands::ForAnother => return false,
                Stands::Within => {}
            }
        }
        match (given, wanted) {
            (Type::Parameter(number), _) => matches!(self.stands_for(*number, wanted), Stands::Yes),
            (Type::Dyn | Type::Error, _) | (_, Type::Dyn | Type::Error) => true,
            (Type::Null, other) | (other, Type::Null) => is_nullable(other),
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(given), Type::List(wanted)) => self.fit(given, wanted),
            (Type::Map(given), Type::Map(wanted)) => {
                self.fit(&given.0, &wanted.0) && self.fit(&given.1, &wanted.1)
            }
            (Type::Opaque(name, given), Type::Opaque(other, wanted)) => {
                name == other && self.fit_all(given, wanted)
            }
            (given, wanted) => given == wanted,
        }
    }

    /// Whether a parameter may stand for a type. If it may, it does.
    fn stands_for(&mut self, number: u32, of: &Type) -> Stands {
        if matches!(of, Type::Parameter(other) if *other == number) {
            return Stands::Yes;
        }
        match self.get(number).cloned() {
            Some(found) if found == *of => Stands::Yes,
            Some(found) => {
                if !self.fit(of, &found) {
                    return Stands::ForAnother;
                }
                let general = match is_more_general(of, &found) {
                    true => of.clone(),
                    false => found,
                };
                if !self.is_within(number, &general) {
                    self.set(number, general);
                }
                Stands::Yes
            }
            None if self.is_within(number, of) => Stands::Within,
            None => {
                self.set(number, of.clone());
                Stands::Yes
            }
        }
    }

    /// Whether a type is made of a parameter.
    fn is_within(&self, number: u32, of: &Type) -> bool {
        let mut open = vec![of];
        while let Some(part) = open.pop() {
            match part {
                _ if !self.steps.take(1) => return false,
                Type::Parameter(other) if *other == number => return true,
                Type::Parameter(other) => open.extend(self.get(*other)),
                part => open.extend(part.parts()),
            }
        }
        false
    }
}

/// Whether a parameter stands for a type.
enum Stands {
    Yes,
    /// It stands for one that this does not fit.
    ForAnother,
    /// The type is made of the parameter.
    Within,
}

fn is_nullable(of: &Type) -> bool {
    matches!(
        of,
        Type::Null | Type::Opaque(..) | Type::Struct(_) | Type::Duration | Type::Timestamp
    )
}

/// Of two types that fit, whether the first one says no more than the other.
fn is_more_general(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Dyn | Type::Parameter(_), _) => true,
        (_, Type::Dyn | Type::Parameter(_)) => false,
        (Type::List(one), Type::List(other)) => is_more_general(one, other),
        (Type::Map(one), Type::Map(other)) => {
            is_more_general(&one.0, &other.0) && is_more_general(&one.1, &other.1)
        }
        (Type::Opaque(name, one), Type::Opaque(of, other)) => {
            name == of
                && one.len() == other.len()
                && one
                    .iter()
                    .zip(&**other)
                    .all(|(one, other)| is_more_general(one, other))
        }
        (Type::Meta(_), Type::Meta(_)) => true,
        _ => one == other,
    }
}

/// The more general of two types that fit.
pub(super) fn more_general(one: Type, other: Type) -> Type {
    match is_more_general(&one, &other) {
        true => one,
        false => other,
    }
}
