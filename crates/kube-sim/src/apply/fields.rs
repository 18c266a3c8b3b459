//! Sets of fields: what a manager owns.
//!
//! A set is a tree of steps from the object down. A field that is a member of the set need not have its parents as members:
//! who sets `.spec.replicas` owns that, and not `.spec`.
//!
//! In JSON (`FieldsV1`) a set is an object with a member for each step, such as `f:spec`; a member without members of its own
//! is in the set, one with others is in it if it has the member `.`.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::status::go_json;

/// One step of the path of a field, in the order in which a real server lists them.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// A member of an object.
    Field(String),
    /// The item of a list whose fields have these values, sorted by name.
    Key(Vec<(String, Value)>),
    /// The item of a list that is this value.
    Value(Value),
    /// The item of a list at this place. Nothing here makes such steps, but a client may.
    Index(i64),
}

impl Step {
    /// Reads a step from the name of a member of `FieldsV1`; `None` for those of a kind that is not known.
    fn parse(text: &str) -> Result<Option<Self>, Malformed> {
        let Some((kind, rest)) = text.split_once(':') else {
            return Err(Malformed);
        };
        Ok(Some(match kind {
            "f" => Self::Field(rest.to_owned()),
            "k" => {
                let key: Map<String, Value> = serde_json::from_str(rest).map_err(|_| Malformed)?;
                Self::Key(key.into_iter().collect())
            }
            "v" => Self::Value(serde_json::from_str(rest).map_err(|_| Malformed)?),
            "i" => Self::Index(rest.parse().map_err(|_| Malformed)?),
            _ => return Ok(None),
        }))
    }

    /// The name of the step in `FieldsV1`.
    fn to_name(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(key) => {
                let members = key.iter().map(|(name, value)| {
                    let name = Value::from(name.as_str());
                    format!("{}:{}", go_json(&name), go_json(value))
                });
                format!("k:{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            Self::Value(value) => format!("v:{}", go_json(value)),
            Self::Index(at) => format!("i:{at}"),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Value(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

/// As in the path of a conflict: `.spec`, `[name="main"]`, `[="a"]`.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(key) => {
                let fields: Vec<_> = key
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                write!(f, "[{}]", fields.join(","))
            }
            Self::Value(value) => write!(f, "[={value}]"),
            Self::Index(at) => write!(f, "[{at}]"),
        }
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(one), Self::Field(other)) => one.cmp(other),
            (Self::Key(one), Self::Key(other)) => {
                let fields = one.iter().zip(other);
                let mut fields =
                    fields.map(|(one, other)| one.0.cmp(&other.0).then_with(|| compare(&one.1, &other.1)));
                let first = fields.find(|ordering| ordering.is_ne());
                first.unwrap_or_else(|| one.len().cmp(&other.len()))
            }
            (Self::Value(one), Self::Value(other)) => compare(one, other),
            (Self::Index(one), Self::Index(other)) => one.cmp(other),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Step {}

/// Orders values: numbers, strings, booleans, then what tells no items apart.
fn compare(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => {
                let float = |number: &serde_json::Number| number.as_f64().unwrap_or(f64::NAN);
                float(one).total_cmp(&float(other))
            }
        },
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        _ => {
            let rank = |value: &Value| match value {
                Value::Number(_) => 0,
                Value::String(_) => 1,
                Value::Bool(_) => 2,
                Value::Array(_) => 3,
                Value::Object(_) => 4,
                Value::Null => 5,
            };
            let by_rank = rank(one).cmp(&rank(other));
            by_rank.then_with(|| one.to_string().cmp(&other.to_string()))
        }
    }
}

/// `FieldsV1` that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// A set of fields.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FieldSet(BTreeMap<Step, Node>);

/// What a set has at one step and below it. A set has no nodes that are empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Node {
    pub(crate) is_member: bool,
    pub(crate) below: FieldSet,
}

impl Node {
    /// A member of a set, and nothing below it.
    pub(crate) fn member() -> Self {
        Self {
            is_member: true,
            below: FieldSet::default(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.is_member && self.below.is_empty()
    }

    fn remove(&mut self, others: &Self, recursively: bool) {
        if others.is_member {
            self.is_member = false;
            if recursively {
                self.below = FieldSet::default();
            }
        }
        self.below.remove(&others.below, recursively);
    }
}

impl FieldSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts a node in its place; an empty one is left out.
    pub(crate) fn put(&mut self, step: Step, node: Node) {
        if !node.is_empty() {
            self.0.insert(step, node);
        }
    }

    pub(crate) fn get(&self, step: &Step) -> Option<&Node> {
        self.0.get(step)
    }

    /// The field with this path, of names of members.
    pub(crate) fn of_path(path: &[&str]) -> Self {
        let mut set = Self::default();
        if let [first, rest @ ..] = path {
            let node = Node {
                is_member: rest.is_empty(),
                below: Self::of_path(rest),
            };
            set.put(Step::Field((*first).to_owned()), node);
        }
        set
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&Step, &Node)> {
        self.0.iter()
    }

    /// The fields of either set.
    pub(crate) fn union(mut self, mut other: Self) -> Self {
        if self.0.len() < other.0.len() {
            std::mem::swap(&mut self, &mut other);
        }
        for (step, node) in other.0 {
            match self.0.get_mut(&step) {
                Some(own) => {
                    own.is_member |= node.is_member;
                    own.below = std::mem::take(&mut own.below).union(node.below);
                }
                None => _ = self.0.insert(step, node),
            }
        }
        self
    }

    /// The fields that are in both sets.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut both = Self::default();
        let (fewer, more) = match self.0.len() < other.0.len() {
            true => (self, other),
            false => (other, self),
        };
        for (step, node) in &fewer.0 {
            if let Some(others) = more.0.get(step) {
                let node = Node {
                    is_member: node.is_member && others.is_member,
                    below: node.below.intersection(&others.below),
                };
                both.put(step.clone(), node);
            }
        }
        both
    }

    /// The fields that are not in the other set. A field stays if only one above it is in the other.
    pub(crate) fn difference(mut self, other: &Self) -> Self {
        self.remove(other, false);
        self
    }

    /// The fields that are not in the other set, nor below one that is.
    pub(crate) fn recursive_difference(mut self, other: &Self) -> Self {
        self.remove(other, true);
        self
    }

    fn remove(&mut self, other: &Self, recursively: bool) {
        // Takes the time of the smaller set: one manager may own much, and thousands may own little.
        if self.0.len() < other.0.len() {
            self.0.retain(|step, node| {
                if let Some(others) = other.0.get(step) {
                    node.remove(others, recursively);
                }
                !node.is_empty()
            });
            return;
        }
        for (step, others) in &other.0 {
            let Some(node) = self.0.get_mut(step) else {
                continue;
            };
            node.remove(others, recursively);
            if node.is_empty() {
                self.0.remove(step);
            }
        }
    }

    /// The paths of all fields: at each level first the members, then what is below them.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, above: &str, paths: &mut Vec<String>) {
        let members = self.0.iter().filter(|(_, node)| node.is_member);
        paths.extend(members.map(|(step, _)| format!("{above}{step}")));
        for (step, node) in self.0.iter().filter(|(_, node)| !node.below.is_empty()) {
            node.below.collect_paths(&format!("{above}{step}"), paths);
        }
    }

    /// How many levels its JSON has.
    pub(crate) fn levels(&self) -> usize {
        1 + self.0.values().map(|node| node.below.levels()).max().unwrap_or(0)
    }

    /// Reads `FieldsV1`.
    pub(crate) fn from_json(value: &Value) -> Result<Self, Malformed> {
        Ok(node_from_json(value)?.below)
    }

    /// The set as `FieldsV1`.
    pub(crate) fn to_json(&self) -> Value {
        let members = self.0.iter().map(|(step, node)| {
            let mut members = node.below.to_json();
            if let (true, Some(members)) = (node.is_member && !node.below.is_empty(), members.as_object_mut())
            {
                members.insert(".".into(), Value::Object(Map::new()));
            }
            (step.to_name(), members)
        });
        members.collect::<Map<_, _>>().into()
    }
}

fn node_from_json(value: &Value) -> Result<Node, Malformed> {
    let Value::Object(members) = value else {
        return Err(Malformed);
    };
    let mut node = Node::default();
    for (name, value) in members {
        if name == "." {
            node.is_member = true;
        } else if let Some(step) = Step::parse(name)? {
            node.below.put(step, node_from_json(value)?);
        }
    }
    node.is_member |= node.below.is_empty();
    Ok(node)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn set(json: Value) -> FieldSet {
        FieldSet::from_json(&json).unwrap()
    }

    #[test]
    fn sets_are_read_and_written_as_fields_v1() {
        let json = json!({
            "f:data": {".": {}, "f:a": {}},
            "f:spec": {
                "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}},
                "f:finalizers": {"v:\"a/b\"": {}, "v:\"\\u003c\"": {}},
                "f:list": {"i:3": {}},
            },
        });
        assert_eq!(set(json.clone()).to_json(), json);
        // A key in another order is the same key; what is not known is left out.
        let other = json!({"f:p": {"k:{\"b\":1,\"a\":2}": {}}, "x:y": {}});
        assert_eq!(set(other).to_json(), json!({"f:p": {"k:{\"a\":2,\"b\":1}": {}}}));
        for bad in [
            json!({"bogus": {}}),
            json!({"k:[": {}}),
            json!({"i:x": {}}),
            json!({"f:a": 1}),
            json!([]),
        ] {
            assert_eq!(FieldSet::from_json(&bad), Err(Malformed), "{bad}");
        }
    }

    #[test]
    fn paths_are_listed_members_first_and_by_value() {
        let listed = set(json!({
            "f:a": {"f:b": {}},
            "f:c": {},
            "f:p": {"k:{\"port\":443}": {}, "k:{\"port\":80}": {}, "v:\"x\"": {}, "v:2": {}},
        }));
        assert_eq!(
            listed.paths(),
            [
                ".c",
                ".a.b",
                ".p[port=80]",
                ".p[port=443]",
                ".p[=2]",
                ".p[=\"x\"]"
            ]
        );
    }

    #[test]
    fn a_difference_keeps_what_is_below_and_a_recursive_one_does_not() {
        let (all, parent) = (set(json!({"f:a": {".": {}, "f:b": {}}})), set(json!({"f:a": {}})));
        let below = set(json!({"f:a": {"f:b": {}}}));
        assert_eq!(all.clone().difference(&parent), below);
        assert!(all.clone().recursive_difference(&parent).is_empty());
        assert_eq!(all.difference(&below), parent);
    }

    fn any_set() -> impl Strategy<Value = FieldSet> {
        let leaf = Just(FieldSet::default());
        leaf.prop_recursive(4, 24, 4, |below| {
            let step = prop_oneof![
                "[ab]".prop_map(Step::Field),
                (0..2_i64).prop_map(|n| Step::Key(vec![("k".into(), n.into())])),
                (0..2_i64).prop_map(|n| Step::Value(n.into())),
            ];
            let node = (any::<bool>(), below).prop_map(|(is_member, below)| Node { is_member, below });
            prop::collection::vec((step, node), 0..4).prop_map(|nodes| {
                let mut set = FieldSet::default();
                nodes.into_iter().for_each(|(step, node)| set.put(step, node));
                set
            })
        })
    }

    proptest! {
        #[test]
        fn sets_obey_the_laws_of_sets(a in any_set(), b in any_set(), c in any_set()) {
            let union = |one: &FieldSet, other: &FieldSet| one.clone().union(other.clone());
            let minus = |one: &FieldSet, other: &FieldSet| one.clone().difference(other);
            prop_assert_eq!(union(&a, &b), union(&b, &a));
            prop_assert_eq!(union(&union(&a, &b), &c), union(&a, &union(&b, &c)));
            prop_assert_eq!(union(&a, &a), a.clone());
            prop_assert_eq!(a.intersection(&b), b.intersection(&a));
            prop_assert_eq!(union(&minus(&a, &b), &a.intersection(&b)), a.clone());
            prop_assert!(minus(&a, &b).intersection(&b).is_empty());
            prop_assert_eq!(minus(&minus(&a, &b), &c), minus(&a, &union(&b, &c)));
            prop_assert!(minus(&a, &a).is_empty());
            prop_assert!(minus(&a.clone().recursive_difference(&b), &minus(&a, &b)).is_empty());
        }

        #[test]
        fn sets_survive_their_json(a in any_set()) {
            prop_assert_eq!(FieldSet::from_json(&a.to_json()), Ok(a));
        }

        #[test]
        fn a_set_has_as_many_paths_as_members(a in any_set(), b in any_set()) {
            let paths = |set: &FieldSet| set.paths().into_iter().collect::<std::collections::BTreeSet<_>>();
            let both: Vec<_> = paths(&a).intersection(&paths(&b)).cloned().collect();
            prop_assert_eq!(paths(&a.intersection(&b)).into_iter().collect::<Vec<_>>(), both);
        }
    }
}
