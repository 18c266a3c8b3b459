//! The functions that Kubernetes adds to CEL: of quantities, addresses, URLs, versions, named formats, sets, lists and rights. Those
//! of regular expressions are with their costs.
//!
//! `value` has the types that they add. A function gets values, looks at their types itself, and says what is wrong in a real server's
//! words ([`failed`](argument::failed)).

use cel::common::types::{DYN_TYPE, LIST_TYPE, STRING_TYPE, Type};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env};

mod address;
pub(super) mod argument;
pub(super) mod authorizer;
mod formats;
mod lists;
mod quantity;
mod sets;
mod url;
mod value;
mod version;

use argument::{Argument, Result};

/// Calls a function with the values of its arguments.
fn called<'b, 'v>(
    arguments: &[CowVal<'b, 'v>],
    function: fn(&[Argument<'_>]) -> Result,
) -> Result<CowVal<'b, 'v>> {
    let arguments: Vec<_> = arguments
        .iter()
        .map(|argument| Argument::of(argument.as_ref()))
        .collect();
    let made: Box<dyn Val> = function(&arguments)?.try_into()?;
    Ok(CowVal::Owned(made))
}

/// Declares functions: `name target (arguments)` for those of a target, `name(arguments)` for others.
macro_rules! declare {
    ($environment:ident: $($name:literal $($target:ident)? ($($argument:ident),*) => $function:path,)+) => {
        $(declare!(@one $environment, $name, [$($target)?], [$($argument),*], $function);)+
    };
    (@one $environment:ident, $name:literal, [], [$($argument:ident),*], $function:path) => {
        $environment.add_overload(
            $name,
            concat!($name, "(", $(stringify!($argument), ",",)* ")"),
            vec![$($argument),*],
            |arguments| called(&arguments, $function),
        )?;
    };
    (@one $environment:ident, $name:literal, [$target:ident], [$($argument:ident),*], $function:path) => {
        $environment.add_member_overload(
            $name,
            concat!(stringify!($target), ".", $name, "(", $(stringify!($argument), ",",)* ")"),
            $target,
            vec![$($argument),*],
            |arguments| called(&arguments, $function),
        )?;
    };
}

/// Declares all of them.
pub(super) fn declare(environment: &mut Env) -> std::result::Result<(), DeclarationError> {
    const ANY: Type = DYN_TYPE;
    const STRING: Type = STRING_TYPE;
    const LIST: Type = LIST_TYPE;
    declare!(environment:
        "quantity"(STRING) => quantity::read,
        "isQuantity"(STRING) => quantity::is,
        "sign"(ANY) => quantity::sign,
        "asInteger" ANY () => quantity::integer,
        "isInteger" ANY () => quantity::is_integer,
        "asApproximateFloat" ANY () => quantity::float,
        "add" ANY (ANY) => quantity::add,
        "sub" ANY (ANY) => quantity::subtract,
        "isGreaterThan" ANY (ANY) => value::is_greater,
        "isLessThan" ANY (ANY) => value::is_less,
        "compareTo" ANY (ANY) => value::compared,
        "semver"(STRING) => version::read,
        "semver"(STRING, ANY) => version::read,
        "isSemver"(STRING) => version::is,
        "isSemver"(STRING, ANY) => version::is,
        "major" ANY () => version::major,
        "minor" ANY () => version::minor,
        "patch" ANY () => version::patch,
        "ip"(STRING) => address::ip,
        "isIP"(STRING) => address::is_ip,
        "ip.isCanonical"(STRING) => address::is_canonical,
        "family" ANY () => address::family,
        "isUnspecified" ANY () => address::is_unspecified,
        "isLoopback" ANY () => address::is_loopback,
        "isLinkLocalMulticast" ANY () => address::is_link_local_multicast,
        "isLinkLocalUnicast" ANY () => address::is_link_local_unicast,
        "isGlobalUnicast" ANY () => address::is_global_unicast,
        "cidr"(STRING) => address::cidr,
        "isCIDR"(STRING) => address::is_cidr,
        "containsIP" ANY (ANY) => address::contains_ip,
        "containsCIDR" ANY (ANY) => address::contains_cidr,
        "ip" ANY () => address::of_cidr,
        "prefixLength" ANY () => address::prefix_length,
        "masked" ANY () => address::masked,
        "string"(ANY) => value::shown,
        "url"(STRING) => url::read,
        "isURL"(STRING) => url::is,
        "getScheme" ANY () => url::scheme,
        "getHost" ANY () => url::host,
        "getHostname" ANY () => url::hostname,
        "getPort" ANY () => url::port,
        "getEscapedPath" ANY () => url::path,
        "getQuery" ANY () => url::query,
        "path" ANY (STRING) => authorizer::path,
        "group" ANY (STRING) => authorizer::group,
        "serviceAccount" ANY (STRING, STRING) => authorizer::service_account,
        "resource" ANY (STRING) => authorizer::resource,
        "subresource" ANY (STRING) => authorizer::subresource,
        "namespace" ANY (STRING) => authorizer::namespace,
        "name" ANY (STRING) => authorizer::name,
        "fieldSelector" ANY (STRING) => authorizer::selector,
        "labelSelector" ANY (STRING) => authorizer::selector,
        "check" ANY (STRING) => authorizer::check,
        "allowed" ANY () => authorizer::allowed,
        "reason" ANY () => authorizer::reason,
        "errored" ANY () => authorizer::errored,
        "error" ANY () => authorizer::error,
        "isSorted" LIST () => lists::is_sorted,
        "sum" LIST () => lists::sum,
        "min" LIST () => lists::min,
        "max" LIST () => lists::max,
        "sets.contains"(LIST, LIST) => sets::contains,
        "sets.equivalent"(LIST, LIST) => sets::are_equivalent,
        "sets.intersects"(LIST, LIST) => sets::intersect,
        "validate" ANY (STRING) => formats::validate,
        "format.named"(STRING) => formats::named,
        "format.dns1123Label"() => formats::dns1123_label,
        "format.dns1123Subdomain"() => formats::dns1123_subdomain,
        "format.dns1035Label"() => formats::dns1035_label,
        "format.qualifiedName"() => formats::qualified_name,
        "format.dns1123LabelPrefix"() => formats::dns1123_label_prefix,
        "format.dns1123SubdomainPrefix"() => formats::dns1123_subdomain_prefix,
        "format.dns1035LabelPrefix"() => formats::dns1035_label_prefix,
        "format.labelValue"() => formats::label_value,
        "format.uri"() => formats::uri,
        "format.uuid"() => formats::uuid,
        "format.byte"() => formats::byte,
        "format.date"() => formats::date,
        "format.datetime"() => formats::datetime,
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::schema::{Answer, Failure, Scope};

    fn evaluated(expression: &str) -> Result<Answer, Failure> {
        Scope::new(&[("object", &Value::Null)]).evaluate(expression)
    }

    // What a real server makes of these and many others is compared by `conformance`.

    #[test]
    fn the_start_of_a_name_may_be_any_text() {
        for start in ["é-", "aé-", "-", "é", ""] {
            let expression = format!("format.dns1123LabelPrefix().validate('{start}').hasValue()");
            assert!(
                matches!(evaluated(&expression), Ok(Answer::Bool(true))),
                "{start:?}"
            );
        }
    }

    // Each would be copied in each round, for nothing.
    #[test]
    fn a_list_is_refused_where_it_can_be_no_argument() {
        let list: Value = vec!["text"; 20_000].into();
        let mut scope = Scope::new(&[("object", &list)]);
        let answer = scope.evaluate("object.exists(x, object.family() == 1) || true");
        assert!(matches!(answer, Ok(Answer::Bool(true)) | Err(_)));
    }

    #[test]
    fn a_long_list_may_be_searched_for_a_few_items() {
        let list: Value = (0..1_500).map(|at| format!("item-{at}")).collect();
        let mut scope = Scope::new(&[("object", &list)]);
        let few = scope.evaluate("sets.contains(object, ['item-7'])");
        assert!(matches!(few, Ok(Answer::Bool(true))));
        assert!(scope.evaluate("sets.equivalent(object, object)").is_err());
    }

    #[test]
    fn functions_of_kubernetes_are_evaluated() {
        for expression in [
            "quantity('1Gi').isGreaterThan(quantity('1G')) && quantity('1').add(quantity('500m')) == quantity('1500m')",
            "quantity('50k').asInteger() == 50000 && !quantity('1500m').isInteger() && sign(quantity('-1')) == -1",
            "[3, 1, 2].min() == 1 && ['a', 'b'].max() == 'b' && [1.5, 2.5].sum() == 4.0 && [1, 1, 2].isSorted()",
            "[1, 2, 2].indexOf(2) == 1 && ['a', 'b', 'a'].lastIndexOf('a') == 2 && 'abc'.indexOf('c') == 2",
            "'a1b22'.find('[0-9]+') == '1' && 'a1b22'.findAll('[0-9]+') == ['1', '22']",
            "url('https://u@h:8/p%20q?a=b&a=c').getHost() == 'h:8' && url('https://h/?a=b&a=c').getQuery() == {'a': ['b', 'c']}",
            "ip('::1').isLoopback() && ip.isCanonical('::1') && cidr('10.0.0.0/8').containsIP('10.1.2.3') && string(ip('2001:DB8::1')) == '2001:db8::1'",
            "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('v1', true) && !isSemver('v1')",
            "sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])",
            "format.dns1123Label().validate('A').hasValue() && !format.named('no').hasValue()",
        ] {
            assert_eq!(evaluated(expression), Ok(Answer::Bool(true)), "{expression}");
        }
    }

    #[test]
    fn functions_of_kubernetes_say_what_is_wrong() {
        for (expression, why) in [
            ("[].min() == 1", "min called on empty list"),
            (
                "quantity('1500m').asInteger() == 1",
                "cannot convert value to integer",
            ),
            (
                "ip('1.2.3').family() == 4",
                "IP Address \"1.2.3\" parse error during conversion from string: ParseAddr(\"1.2.3\"): IPv4 address too short",
            ),
            (
                "semver('1.2').major() == 1",
                "No Major.Minor.Patch elements found",
            ),
            ("ip('::1').major() == 1", "no such overload"),
            ("'a'.sum() == 1", "no such overload"),
        ] {
            assert_eq!(
                evaluated(expression),
                Err(Failure::Error(why.into())),
                "{expression}"
            );
        }
    }
}
