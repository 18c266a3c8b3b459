//! Conversions from label selectors of API objects and of `kube`.

use super::label::LabelSelector;
use super::requirement::{LabelOperator, LabelRequirement};
use super::syntax;
use k8s_openapi::apimachinery::pkg::apis::meta::v1;
use kube::core::{Expression, Selector};

/// A selector of an API object, or of `kube`, has an invalid condition; see
/// [`LabelSelector::try_from`](LabelSelector#impl-TryFrom%3C%26LabelSelector%3E-for-LabelSelector).
///
/// ```
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1;
/// use kube_informer::selector::LabelSelector;
///
/// let requirement = v1::LabelSelectorRequirement { key: "app".into(), operator: "In".into(), values: None };
/// let selector = v1::LabelSelector { match_expressions: Some(vec![requirement]), ..Default::default() };
/// let error = LabelSelector::try_from(&selector).unwrap_err();
/// assert_eq!(error.path(), "matchExpressions[0]");
/// assert_eq!(error.to_string(), r#"invalid selector: matchExpressions[0] (key "app"): In needs at least one value"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid selector: {path} (key {key:?}): {reason}")]
pub struct InvalidRequirement {
    path: String,
    key: String,
    reason: String,
}

impl InvalidRequirement {
    /// The position of the condition: `matchLabels`, `matchExpressions[2]`, or for a `kube::core::Selector` the index
    /// of the expression, such as `expressions[2]`.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The label of the condition.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The reason why the condition is invalid.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// Creates one condition, validated in the same way as by the API server.
fn requirement<'a>(
    path: impl FnOnce() -> String,
    key: &str,
    operator: LabelOperator,
    values: impl IntoIterator<Item = &'a str>,
) -> Result<LabelRequirement, InvalidRequirement> {
    let values: Vec<&str> = values.into_iter().collect();
    check(key, operator, &values)
        .map(|()| LabelRequirement::new(key, operator, values, 0))
        .map_err(|reason| InvalidRequirement {
            path: path(),
            key: key.to_owned(),
            reason,
        })
}

fn check(key: &str, operator: LabelOperator, values: &[&str]) -> Result<(), String> {
    syntax::check_key(key).map_err(|(at, why)| format!("not a label key: {why} (byte {})", at + 1))?;
    match operator {
        LabelOperator::In | LabelOperator::NotIn if values.is_empty() => {
            return Err(format!("{operator:?} needs at least one value"));
        }
        LabelOperator::Exists | LabelOperator::DoesNotExist if !values.is_empty() => {
            return Err(format!("{operator:?} takes no values"));
        }
        _ => {}
    }
    for value in values {
        syntax::check_value(value)
            .map_err(|(at, why)| format!("{value:?} is not a label value: {why} (byte {})", at + 1))?;
    }
    Ok(())
}

/// The selector of an object of the API, such as a Deployment's `spec.selector`, converted like
/// `metav1.LabelSelectorAsSelector`. An empty selector matches everything. An absent selector usually matches
/// nothing, as documented for its kind; the caller must handle that case.
///
/// ```
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1;
/// use kube_informer::selector::LabelSelector;
///
/// let labels = [("app".to_owned(), "web".to_owned())].into();
/// let of_deployment = v1::LabelSelector { match_labels: Some(labels), ..Default::default() };
/// assert_eq!(LabelSelector::try_from(&of_deployment)?.to_string(), "app=web");
/// # Ok::<_, kube_informer::selector::InvalidRequirement>(())
/// ```
///
/// # Errors
/// A key or value is not valid for a label, an operator is unknown, or the number of values is not valid for the
/// operator. The error states which.
impl TryFrom<&v1::LabelSelector> for LabelSelector {
    type Error = InvalidRequirement;

    fn try_from(selector: &v1::LabelSelector) -> Result<Self, Self::Error> {
        let labels = selector.match_labels.iter().flatten().map(|(key, value)| {
            let path = || "matchLabels".to_owned();
            requirement(path, key, LabelOperator::Equals, [value.as_str()])
        });
        let expressions = selector.match_expressions.iter().flatten().enumerate();
        let expressions = expressions.map(|(number, expression)| {
            let path = || format!("matchExpressions[{number}]");
            let operator = match expression.operator.as_str() {
                "In" => LabelOperator::In,
                "NotIn" => LabelOperator::NotIn,
                "Exists" => LabelOperator::Exists,
                "DoesNotExist" => LabelOperator::DoesNotExist,
                other => {
                    return Err(InvalidRequirement {
                        path: path(),
                        key: expression.key.clone(),
                        reason: format!("{other:?} is not a label selector operator"),
                    });
                }
            };
            let values = expression.values.iter().flatten().map(String::as_str);
            requirement(path, &expression.key, operator, values)
        });
        labels
            .chain(expressions)
            .collect::<Result<Vec<_>, _>>()
            .map(Self::of)
    }
}

/// Like the conversion from a reference.
impl TryFrom<v1::LabelSelector> for LabelSelector {
    type Error = InvalidRequirement;

    fn try_from(selector: v1::LabelSelector) -> Result<Self, Self::Error> {
        Self::try_from(&selector)
    }
}

/// Converts a selector built with `kube`. An empty selector matches everything.
///
/// ```
/// use kube::core::{Expression, Selector};
/// use kube_informer::selector::LabelSelector;
///
/// let selector = Selector::from(Expression::Exists("app".into()));
/// assert_eq!(LabelSelector::try_from(selector)?.to_string(), "app");
/// # Ok::<_, kube_informer::selector::InvalidRequirement>(())
/// ```
///
/// # Errors
/// A key or value is not valid for a label, or a set of values is empty; `kube` does not validate this.
impl TryFrom<Selector> for LabelSelector {
    type Error = InvalidRequirement;

    fn try_from(selector: Selector) -> Result<Self, Self::Error> {
        let requirements = selector.into_iter().enumerate().map(|(number, expression)| {
            let path = || format!("expressions[{number}]");
            let set = |set: &'_ std::collections::BTreeSet<String>| -> Vec<String> {
                set.iter().cloned().collect()
            };
            let (key, operator, values) = match expression {
                Expression::In(key, values) => (key, LabelOperator::In, set(&values)),
                Expression::NotIn(key, values) => (key, LabelOperator::NotIn, set(&values)),
                Expression::Equal(key, value) => (key, LabelOperator::Equals, vec![value]),
                Expression::NotEqual(key, value) => (key, LabelOperator::NotEquals, vec![value]),
                Expression::Exists(key) => (key, LabelOperator::Exists, Vec::new()),
                Expression::DoesNotExist(key) => (key, LabelOperator::DoesNotExist, Vec::new()),
            };
            requirement(path, &key, operator, values.iter().map(String::as_str))
        });
        requirements.collect::<Result<Vec<_>, _>>().map(Self::of)
    }
}

/// Like the conversion by value.
impl TryFrom<&Selector> for LabelSelector {
    type Error = InvalidRequirement;

    fn try_from(selector: &Selector) -> Result<Self, Self::Error> {
        Self::try_from(selector.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(key: &str, operator: &str, values: &[&str]) -> v1::LabelSelectorRequirement {
        v1::LabelSelectorRequirement {
            key: key.into(),
            operator: operator.into(),
            values: (!values.is_empty()).then(|| values.iter().map(|value| (*value).into()).collect()),
        }
    }

    fn converted(
        labels: &[(&str, &str)],
        expressions: &[v1::LabelSelectorRequirement],
    ) -> Result<String, String> {
        let selector = v1::LabelSelector {
            match_labels: Some(labels.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect()),
            match_expressions: Some(expressions.to_vec()),
        };
        LabelSelector::try_from(selector)
            .map(|selector| selector.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn an_empty_api_selector_selects_everything() {
        assert!(
            LabelSelector::try_from(v1::LabelSelector::default())
                .unwrap()
                .is_everything()
        );
        assert_eq!(converted(&[], &[]).as_deref(), Ok(""));
        assert!(
            LabelSelector::try_from(Selector::default())
                .unwrap()
                .is_everything()
        );
    }

    /// The table of Go's `TestLabelSelectorAsSelector`.
    #[test]
    fn an_api_selector_means_what_it_means_in_go() {
        let labels = [("foo", "bar")];
        let cases: [(&[_], &[_], &str); 5] = [
            (&labels, &[], "foo=bar"),
            (
                &labels,
                &[expression("baz", "In", &["qux", "norf"])],
                "baz in (norf,qux),foo=bar",
            ),
            (&[], &[expression("baz", "Exists", &[])], "baz"),
            (&[], &[expression("baz", "NotIn", &["qux"])], "baz notin (qux)"),
            (&[], &[expression("baz", "DoesNotExist", &[])], "!baz"),
        ];
        for (labels, expressions, expected) in cases {
            assert_eq!(converted(labels, expressions).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn an_invalid_api_selector_says_which_expression_is_wrong() {
        let good = expression("app", "Exists", &[]);
        let second = |bad| converted(&[], &[good.clone(), bad]).unwrap_err();
        let cases = [
            (expression("app", "Exists", &["a"]), "Exists takes no values"),
            (
                expression("app", "DoesNotExist", &["a"]),
                "DoesNotExist takes no values",
            ),
            (expression("app", "In", &[]), "In needs at least one value"),
            (expression("app", "NotIn", &[]), "NotIn needs at least one value"),
            (
                expression("app", "in", &["a"]),
                "\"in\" is not a label selector operator",
            ),
            (
                expression("app", "Gt", &["5"]),
                "\"Gt\" is not a label selector operator",
            ),
        ];
        for (bad, why) in cases {
            let expected = format!("invalid selector: matchExpressions[1] (key \"app\"): {why}");
            assert_eq!(second(bad), expected);
        }
        assert!(second(expression("a b", "Exists", &[])).contains("(key \"a b\"): not a label key"));
        assert!(second(expression("app", "In", &["ok", "a,b"])).contains("\"a,b\" is not a label value"));
        let error = converted(&[("app", "web"), ("tier", "a b")], &[]).unwrap_err();
        assert!(
            error.contains("matchLabels (key \"tier\"): \"a b\" is not"),
            "{error}"
        );
    }

    #[test]
    fn a_selector_of_kube_selects_the_same_here() {
        let selector = Selector::from_iter([
            Expression::In("a".into(), ["y".into(), "x".into()].into()),
            Expression::NotIn("b".into(), ["x".into()].into()),
            Expression::Equal("c".into(), "1".into()),
            Expression::NotEqual("d".into(), "2".into()),
            Expression::Exists("e".into()),
            Expression::DoesNotExist("f".into()),
        ]);
        let converted = LabelSelector::try_from(&selector).unwrap();
        assert_eq!(converted.to_string(), "a in (x,y),b notin (x),c=1,d!=2,e,!f");
        assert_eq!(LabelSelector::parse(&selector.to_string()).unwrap(), converted);
        let bad = Selector::from(Expression::Equal("a".into(), "x,y=z".into()));
        assert_eq!(LabelSelector::try_from(bad).unwrap_err().path(), "expressions[0]");
    }
}
