//! Walking what a [`Plan`](crate::wire::Plan) asks for: fields to find, members and items to leave out.

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
                walk.members(|walk, name| {
                    let nodes = plan::member(nodes, &text::member_name(walk.slice(name.clone())));
                    object.part(walk, name.start, &nodes, self, |found, walk| {
                        found.value(walk, &nodes)
                    })
                })?;
                object.end(self);
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
