//! Applies a [`FieldPlan`](crate::FieldPlan) during a walk: fields to extract, members and items to prune.

use super::{
    text,
    walk::{Fault, Walk},
};
use crate::low_level::wire::{
    meta::Span,
    plan::{self, Node, Nodes},
};
use smallvec::SmallVec;
use std::ops::Range;

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The parts to prune, in order and not adjacent.
    pub(super) cuts: SmallVec<[Span; 1]>,
    /// The numbers of fields and their values.
    pub(super) fields: SmallVec<[(u16, Span); 1]>,
}

impl Found {
    /// Skips the value that begins here and records fields and cuts.
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

    /// Removes fields in these ranges, which are in order and do not overlap.
    fn remove_fields(&mut self, places: Vec<Range<usize>>) {
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
        // A cut replaces the cuts inside it, and a run of pruned members extends the cut with the same start.
        while self.cuts.last().is_some_and(|last| last.start() >= place.start) {
            self.cuts.pop();
        }
        self.cuts.push(Span::new(place));
    }
}

/// An object or array that is being read. It determines which commas belong to pruned parts.
#[derive(Debug, Default)]
pub(super) struct Container {
    kept_until: Option<usize>,
    /// The pruned parts at the start.
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

    /// Ends the container after its last part.
    pub(super) fn end(self, found: &mut Found) {
        if let Some(leading) = self.leading {
            found.cut(leading);
        }
    }
}

/// The members of an object that the plan applies to: the range of the name including quotes, and the number of
/// fields found before.
#[derive(Debug, Default)]
pub(super) struct Names(SmallVec<[(Range<usize>, usize); 1]>);

impl Names {
    /// Records the start of a member.
    pub(super) fn begin(&mut self, name: &Range<usize>, nodes: &Nodes<'_>, found: &Found) {
        if !nodes.is_empty() {
            self.0.push((name.clone(), found.fields.len()));
        }
    }

    /// Ends the object after its last member. Removes fields found in members whose name occurs again later.
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
        // The sort is stable, so the last member with a name comes after the others.
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        let repeated = members.windows(2).filter(|two| two[0].0 == two[1].0);
        let mut places: Vec<_> = repeated.map(|two| two[0].1.clone()).collect();
        places.sort_by_key(|place| (place.start, place.end));
        found.remove_fields(places);
    }
}
