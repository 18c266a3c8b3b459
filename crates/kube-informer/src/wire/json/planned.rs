//! Walking what a [`FieldPlan`](crate::wire::FieldPlan) asks for: fields to find, members and items to leave out.

use super::{
    text,
    walk::{Fault, Walk},
};
use crate::wire::{
    meta::Span,
    plan::{self, Node, Nodes},
};
use smallvec::SmallVec;
use std::ops::Range;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The parts to leave out, in order, apart from each other.
    pub(super) cuts: SmallVec<[Span; 1]>,
    /// The number of a field, and a value of it.
    pub(super) fields: SmallVec<[(u16, Span); 1]>,
}

impl Found {
    /// Goes over the value that begins here.
    pub(super) fn value(&mut self, walk: &mut Walk<'_>, nodes: &[&Node]) -> Result<(), Fault> {
        let start = walk.at();
        match walk.peek() {
            Some(b'{') if nodes.iter().any(|node| node.is_inner()) => {
                let mut object = Container::default();
                let mut names = Names::default();
                walk.members(|walk, name| {
                    let nodes = plan::member(nodes, &text::member_name(walk.slice(name.clone())));
                    names.begin(&name, &nodes, self);
                    object.part(walk, name.start, &nodes, self, |found, walk| {
                        found.value(walk, &nodes)
                    })
                })?;
                object.end(self);
                names.end(walk, self);
            }
            Some(b'[') if nodes.iter().any(|node| node.is_inner()) => {
                let nodes = plan::item(nodes);
                let mut array = Container::default();
                walk.items(|walk| {
                    let start = walk.at();
                    array.part(walk, start, &nodes, self, |found, walk| found.value(walk, &nodes))
                })?;
                array.end(self);
            }
            _ => walk.skip()?,
        }
        self.found(nodes, start..walk.at());
        Ok(())
    }

    pub(super) fn found(&mut self, nodes: &[&Node], place: Range<usize>) {
        let numbers = nodes.iter().flat_map(|node| &node.fields);
        let span = Span::new(place);
        self.fields.extend(numbers.map(|number| (*number, span)));
    }

    /// Forgets fields at these places, which are in order and do not overlap.
    fn forget(&mut self, places: Vec<Range<usize>>) {
        let Some(first) = places.first().map(|place| place.start) else {
            return;
        };
        let mut kept = first;
        let mut places = places.into_iter().peekable();
        for at in first..self.fields.len() {
            while places.next_if(|place| place.end <= at).is_some() {}
            if places.peek().is_none_or(|place| at < place.start) {
                self.fields[kept] = self.fields[at];
                kept += 1;
            }
        }
        self.fields.truncate(kept);
    }

    fn cut(&mut self, place: Range<usize>) {
        // What is left out has parts that are left out; and a run of members grows from the same start.
        while self.cuts.last().is_some_and(|last| last.start() >= place.start) {
            self.cuts.pop();
        }
        self.cuts.push(Span::new(place));
    }
}

/// An object or array that is under way; it knows which commas go with the parts that are left out.
#[derive(Debug, Default)]
pub(super) struct Container {
    kept_until: Option<usize>,
    /// The parts that are left out at the start.
    leading: Option<Range<usize>>,
}

impl Container {
    /// Visits a member or item that begins at `start`; `read` goes over its value, which begins here.
    pub(super) fn part<'p>(
        &mut self,
        walk: &mut Walk<'_>,
        start: usize,
        nodes: &Nodes<'p>,
        found: &mut Found,
        read: impl FnOnce(&mut Found, &mut Walk<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let prune = nodes.iter().any(|node| node.prune);
        if !prune && let Some(leading) = self.leading.take() {
            found.cut(leading.start..start);
        }
        read(found, walk)?;
        let end = walk.at();
        match (prune, self.kept_until) {
            (false, _) => self.kept_until = Some(end),
            (true, Some(kept_until)) => found.cut(kept_until..end),
            (true, None) => {
                let start = self.leading.as_ref().map_or(start, |leading| leading.start);
                self.leading = Some(start..end);
            }
        }
        Ok(())
    }

    /// The last part was visited.
    pub(super) fn end(self, found: &mut Found) {
        if let Some(leading) = self.leading {
            found.cut(leading);
        }
    }
}

/// The members of an object in which something is looked for: the place of the name, with its quotes, and how many fields
/// had been found before.
#[derive(Debug, Default)]
pub(super) struct Names(SmallVec<[(Range<usize>, usize); 1]>);

impl Names {
    /// A member begins.
    pub(super) fn begin(&mut self, name: &Range<usize>, nodes: &Nodes<'_>, found: &Found) {
        if !nodes.is_empty() {
            self.0.push((name.clone(), found.fields.len()));
        }
    }

    /// The last member was visited. Forgets what was found in a member whose name came again later.
    pub(super) fn end(self, walk: &Walk<'_>, found: &mut Found) {
        if self.0.len() < 2 {
            return;
        }
        let ends = self.0.iter().skip(1).map(|(_, start)| *start);
        let ends = ends.chain([found.fields.len()]);
        let members = self.0.iter().zip(ends);
        let mut members: Vec<_> = members
            .map(|((name, start), end)| (text::member_name(walk.slice(name.clone())), *start..end))
            .collect();
        // A stable sort leaves the last member of a name behind the others.
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let repeated = members.windows(2).filter(|two| two[0].0 == two[1].0);
        let mut places: Vec<_> = repeated.map(|two| two[0].1.clone()).collect();
        places.sort_by_key(|place| (place.start, place.end));
        found.forget(places);
    }
}
