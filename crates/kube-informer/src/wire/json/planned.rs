//! Walking what a [`Plan`](crate::wire::Plan) asks for: fields to find and members to leave out.

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
                let mut object = Object::default();
                walk.members(|walk, name| {
                    let nodes = plan::member(nodes, &text::member_name(walk.slice(name.clone())));
                    object.member(walk, name, &nodes, self, |found, walk| found.value(walk, &nodes))
                })?;
                object.end(self);
            }
            Some(b'[') if nodes.iter().any(|node| node.is_inner()) => {
                let nodes = plan::item(nodes);
                walk.items(|walk| self.value(walk, &nodes))?;
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

/// An object that is under way; it knows which commas go with the members that are left out.
#[derive(Debug, Default)]
pub(super) struct Object {
    kept_until: Option<usize>,
    /// The members that are left out at the start.
    leading: Option<Range<usize>>,
}

impl Object {
    /// Visits a member whose name stands at `name`; `read` goes over the value, which begins here.
    pub(super) fn member<'p>(
        &mut self,
        walk: &mut Walk<'_>,
        name: Range<usize>,
        nodes: &Nodes<'p>,
        found: &mut Found,
        read: impl FnOnce(&mut Found, &mut Walk<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let prune = nodes.iter().any(|node| node.prune);
        if !prune && let Some(leading) = self.leading.take() {
            found.cut(leading.start..name.start);
        }
        read(found, walk)?;
        let end = walk.at();
        match (prune, self.kept_until) {
            (false, _) => self.kept_until = Some(end),
            (true, Some(kept_until)) => found.cut(kept_until..end),
            (true, None) => {
                let start = self.leading.as_ref().map_or(name.start, |leading| leading.start);
                self.leading = Some(start..end);
            }
        }
        Ok(())
    }

    /// The last member was visited.
    pub(super) fn end(self, found: &mut Found) {
        if let Some(leading) = self.leading {
            found.cut(leading);
        }
    }
}
