//! What calls cost.

use cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

use super::range::{Range, TRAVERSAL};
use super::sizes::Step;
use super::{Argument, Call, Estimate, LIST};
use crate::schema::cel::checker::{Called, Overload, Type};

/// A regular expression costs a quarter for each of its characters, for each of the text.
const PATTERN: f64 = 0.25;

/// What it costs to ask whether somebody may do something: two fit in an expression.
const CHECK: u64 = 350_000;

/// The longest regular expression of a named format, and the longest name of one.
const FORMAT_PATTERN: f64 = 128.0;
const FORMAT_NAME: u64 = 64;

impl<'a> Estimate<'a> {
    /// What one of the ways to call a function costs with its arguments, but without its target.
    pub(super) fn of_overload(
        &mut self,
        part: &'a IdedExpr,
        called: &Called,
        overload: &Overload,
        target: Option<&Argument<'a>>,
        arguments: &[Argument<'a>],
        costs: &[Range],
    ) -> Call {
        let name = &*called.name;
        if let Some(call) = self.of_operator(part, name, overload, arguments, costs) {
            return call;
        }
        let call = self
            .of_list_function(name, overload, target, arguments)
            .or_else(|| self.of_library(name, overload, target, arguments))
            .or_else(|| self.of_text(name, overload, target, arguments));
        // All other functions cost one.
        let call = call.unwrap_or_else(|| Range::ONE.into());
        Call {
            cost: call.cost.plus(sum(costs)),
            size: call.size,
        }
    }

    /// What decides which of its arguments are evaluated.
    fn of_operator(
        &mut self,
        part: &'a IdedExpr,
        name: &str,
        overload: &Overload,
        arguments: &[Argument<'a>],
        costs: &[Range],
    ) -> Option<Call> {
        match (name, arguments, costs) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, _, [first, ..]) => {
                let (min, max) = (first.min, sum(costs).max);
                Some(Range { min, max }.into())
            }
            (operators::CONDITIONAL, [_, one, other], [condition, of_one, of_other]) => {
                self.join_entries(part, one, other);
                let cost = condition.plus(of_one.or(*of_other));
                Some(sized(cost, size(one).or(size(other))))
            }
            (operators::ADD, [one, other], _) => {
                let all = size(one).plus(size(other));
                let cost = match overload.arguments.first() {
                    Some(Type::List(_)) => Range::ONE,
                    Some(Type::String | Type::Bytes) => all.traversed(),
                    _ => return None,
                };
                self.join_entries(part, one, other);
                Some(sized(cost.plus(sum(costs)), all))
            }
            _ => None,
        }
    }

    /// The items of one list or the other.
    fn join_entries(&mut self, part: &IdedExpr, one: &Argument<'_>, other: &Argument<'_>) {
        let (one, other) = (self.entry_of(one.expression), self.entry_of(other.expression));
        if let (Some(one), Some(other)) = (one, other) {
            self.entries.insert(part.id, one.or(other));
        }
    }

    /// The functions of sets and lists.
    fn of_list_function(
        &self,
        name: &str,
        overload: &Overload,
        target: Option<&Argument<'a>>,
        arguments: &[Argument<'a>],
    ) -> Option<Call> {
        let new_list = |factor: f64, result: Range| {
            let cost = result.by(factor).plus(Range::ONE).plus(LIST);
            Some(sized(cost, result))
        };
        let sorted = |by: Range, of: Option<&Type>| {
            let is_read =
                matches!(of, Some(Type::List(item)) if matches!(**item, Type::String | Type::Bytes));
            new_list(if is_read { 2.0 + TRAVERSAL } else { 2.0 }, by.times(by))
        };
        match (name, target, arguments) {
            ("sets.contains" | "sets.intersects" | "sets.equivalent", None, [one, other]) => {
                let factor = if name == "sets.equivalent" { 2.0 } else { 1.0 };
                let cost = size(one).times(size(other)).by(factor);
                Some(cost.plus(Range::ONE).into())
            }
            ("slice", Some(list), [start, end]) => {
                let (start, end) = (number(start, 0), number(end, size(list).max));
                new_list(1.0, Range::exactly(end.wrapping_sub(start)))
            }
            ("lists.range", None, [count]) => new_list(1.0, Range::exactly(number(count, u64::MAX))),
            ("reverse", Some(list), []) if matches!(overload.arguments.first(), Some(Type::List(_))) => {
                new_list(1.0, size(list))
            }
            ("flatten", Some(list), depth) => {
                let depth = depth.first().map_or(1, |depth| number(depth, u64::MAX));
                new_list(depth as f64, size(list))
            }
            ("distinct", Some(list), []) => new_list(2.0, size(list).times(size(list))),
            ("sort", Some(list), []) => sorted(size(list), overload.arguments.first()),
            ("@sortByAssociatedKeys", Some(_), [keys]) => sorted(size(keys), overload.arguments.get(1)),
            _ => None,
        }
    }

    /// The functions of Kubernetes, and those that it says the cost of.
    fn of_library(
        &self,
        name: &str,
        overload: &Overload,
        target: Option<&Argument<'a>>,
        arguments: &[Argument<'a>],
    ) -> Option<Call> {
        let first = arguments.first().map(size);
        let of_target = target.map(size);
        Some(match name {
            "check" => Range::exactly(CHECK).into(),
            "serviceAccount" | "path" | "group" | "resource" | "subresource" | "namespace" | "name"
            | "allowed" | "reason" | "error" | "errored" => Range::ONE.into(),
            "fieldSelector" | "labelSelector" => {
                let requirements = first?.by(0.5).by((LIST.max + super::OBJECT.max) as f64);
                LIST.plus(first?.traversed()).plus(requirements).into()
            }
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => match self.item_of(target?) {
                Some((Type::String | Type::Bytes, item)) => {
                    of_target?.times(Range::ONE.plus(item.traversed())).into()
                }
                Some(_) => of_target?.into(),
                None => of_target?.traversed().into(),
            },
            "url" | "jsonpatch.escapeKey" => sized(first?.traversed(), first?),
            "lowerAscii" | "upperAscii" | "substring" | "trim" => sized(of_target?.traversed(), of_target?),
            "replace" => {
                let [from, to, ..] = arguments else {
                    return None;
                };
                sized(
                    of_target?.by(2.0 * TRAVERSAL),
                    replaced(of_target?, size(from), size(to)),
                )
            }
            "split" => {
                let limit = arguments.get(1).and_then(|limit| match &limit.expression.expr {
                    Expr::Literal(LiteralValue::Int(limit)) => Some(*limit.inner() as u64),
                    _ => None,
                });
                let most = limit.unwrap_or(of_target?.max);
                sized(of_target?.by(2.0 * TRAVERSAL), Range::up_to(most))
            }
            "join" => {
                let item = self.item_of(target?);
                let mut text = item.map_or(Range::NONE, |(_, item)| {
                    of_target.unwrap_or(Range::ANY).times(item)
                });
                if let (Some(separator), Some(list)) = (first, of_target) {
                    let between = Range {
                        min: list.min.saturating_sub(1),
                        max: list.max.saturating_sub(1),
                    };
                    text = text.plus(separator.times(between));
                }
                sized(text.traversed(), text)
            }
            "find" | "findAll" => {
                let cost = matching(of_target?, first?);
                sized(cost, Range::up_to(of_target?.max))
            }
            "ip" if target.is_some() => Range::ONE.into(),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                first?.traversed().into()
            }
            "ip.isCanonical" => first?.by(2.0 * TRAVERSAL).into(),
            "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast" => Range::ONE.into(),
            "containsIP" | "containsCIDR" => {
                // An address has 4 or 16 bytes.
                let address = Range { min: 4, max: 16 };
                let mut cost = address.plus(address).traversed();
                if name == "containsCIDR" {
                    cost = cost.plus(address.traversed()).plus(Range::ONE);
                }
                if overload.arguments.get(1) == Some(&Type::String) {
                    cost = cost.plus(first?.traversed());
                }
                cost.into()
            }
            "validate" => first?.traversed().by(FORMAT_PATTERN * PATTERN).into(),
            "format.named" => Range::ONE.into(),
            "sign" | "asInteger" | "isInteger" | "asApproximateFloat" | "isGreaterThan" | "isLessThan"
            | "compareTo" | "add" | "sub" | "major" | "minor" | "patch" => Range::ONE.into(),
            "getScheme" | "getHostname" | "getHost" | "getPort" | "getEscapedPath" | "getQuery" => {
                Range::ONE.into()
            }
            operators::EQUALS => self.of_equal_objects(arguments)?.into(),
            _ => return None,
        })
    }

    /// What it costs to compare two of Kubernetes' own values.
    fn of_equal_objects(&self, arguments: &[Argument<'a>]) -> Option<Range> {
        let [one, other] = arguments else {
            return None;
        };
        let of = |argument: &Argument<'_>| match self.checked.type_of(argument.expression) {
            Type::Opaque(name, parts) if parts.is_empty() => Some(name.clone()),
            _ => None,
        };
        let of_both = of(one).filter(|name| of(other).as_ref() == Some(name))?;
        Some(match &*of_both {
            "kubernetes.NamedFormat" => Range {
                min: 1,
                max: FORMAT_NAME,
            }
            .traversed(),
            "kubernetes.URL" => {
                let max = other.size.map_or(1, |size| size.max);
                Range { min: 1, max }.traversed()
            }
            _ => Range::ONE,
        })
    }

    /// The functions of CEL that read a text or a list.
    fn of_text(
        &self,
        name: &str,
        overload: &Overload,
        target: Option<&Argument<'a>>,
        arguments: &[Argument<'a>],
    ) -> Option<Call> {
        let first = arguments.first().map(size);
        let takes = |of: &Type| overload.arguments.first() == Some(of);
        Some(match (name, arguments) {
            ("format", _) => target.map(size)?.traversed().into(),
            ("bytes", [_]) if takes(&Type::String) => {
                let read = first?;
                let max = read.max.wrapping_mul(4);
                sized(read.traversed(), Range { max, ..read })
            }
            ("string", [_]) if takes(&Type::Bytes) => {
                let read = first?;
                let min = read.min / 4;
                sized(read.traversed(), Range { min, ..read })
            }
            ("strings.quote", [_]) => {
                let read = first?;
                let quoted = Range {
                    min: read.min.wrapping_add(2),
                    max: read.max.wrapping_mul(2).wrapping_add(2),
                };
                sized(read.traversed(), quoted)
            }
            ("startsWith" | "endsWith", [_]) => first?.traversed().into(),
            (operators::IN, [_, list]) if matches!(overload.arguments.get(1), Some(Type::List(_))) => {
                size(list).into()
            }
            ("matches", [pattern]) => matching(target.map(size)?, size(pattern)).into(),
            ("contains", [part]) => {
                let (text, part) = (target.map(size)?.traversed(), size(part).traversed());
                text.times(part).into()
            }
            (
                operators::LESS | operators::LESS_EQUALS | operators::GREATER | operators::GREATER_EQUALS,
                [one, other],
            ) if takes(&Type::String) || takes(&Type::Bytes) => compared(one, other),
            (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => compared(one, other),
            _ => return None,
        })
    }

    /// The type of a list's items, and how large they are.
    fn item_of(&self, list: &Argument<'a>) -> Option<(Type, Range)> {
        let of = match self.checked.type_of(list.expression) {
            Type::List(item) => self.checked.known(item).clone(),
            _ => return None,
        };
        let path = list
            .path
            .is_somewhere()
            .then(|| list.path.copied().with(Step::Item));
        let size = path.and_then(|path| self.found(&path));
        Some((of, size.unwrap_or(Range::ANY)))
    }
}

impl From<Range> for Call {
    fn from(cost: Range) -> Self {
        Self { cost, size: None }
    }
}

fn sized(cost: Range, size: Range) -> Call {
    Call {
        cost,
        size: Some(size),
    }
}

fn sum(costs: &[Range]) -> Range {
    costs.iter().fold(Range::NONE, |sum, cost| sum.plus(*cost))
}

fn size(argument: &Argument<'_>) -> Range {
    argument.size.unwrap_or(Range::ANY)
}

/// A number that is written in the expression.
fn number(argument: &Argument<'_>, otherwise: u64) -> u64 {
    match &argument.expression.expr {
        Expr::Literal(LiteralValue::Int(number)) => (*number.inner()).max(0) as u64,
        _ => otherwise,
    }
}

fn compared(one: &Argument<'_>, other: &Argument<'_>) -> Call {
    let max = size(one).max.min(size(other).max);
    Range { min: max.min(1), max }.traversed().into()
}

/// What a regular expression costs. An empty text costs something, too.
fn matching(text: Range, pattern: Range) -> Range {
    text.plus(Range::ONE).traversed().times(pattern.by(PATTERN))
}

/// How long a text is after parts of it were replaced.
fn replaced(text: Range, from: Range, to: Range) -> Range {
    let parts = |text: u64, of: u64| (text as f64 / of as f64).ceil() as u64;
    let (most, kept_of_most) = if from.min == 0 {
        (text.max.saturating_add(1), text.max)
    } else if to.max <= from.min {
        (0, text.max)
    } else {
        (parts(text.max, from.min), 0)
    };
    let (fewest, kept_of_fewest) = if from.max == 0 {
        (text.min.saturating_add(1), text.min)
    } else if from.max <= to.min {
        (0, text.min)
    } else {
        (parts(text.min, from.max), 0)
    };
    let (count, kept) = (
        Range {
            min: fewest,
            max: most,
        },
        Range {
            min: kept_of_fewest,
            max: kept_of_most,
        },
    );
    count.times(to).plus(kept)
}
