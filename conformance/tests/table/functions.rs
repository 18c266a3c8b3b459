//! The functions that Kubernetes adds to CEL, in rules of a definition.

use crate::case::{Case, get, post};
use crate::objects::DEFINITIONS;
use serde_json::{Value, json};

const THINGS: &str = "/apis/{ns}.example.com/v1/namespaces/{ns}/things";

/// Rules that hold.
const HOLD: [&str; 60] = [
    "quantity('1Gi').isGreaterThan(quantity('1G'))",
    "quantity('1Gi').isLessThan(quantity('2Gi'))",
    "quantity('1000m').compareTo(quantity('1')) == 0",
    "quantity('50k').asInteger() == 50000",
    "quantity('1500m').isInteger() == false",
    "quantity('9999999999999999999G').isInteger() == false",
    "quantity('1500m').asApproximateFloat() == 1.5",
    "quantity('1').add(quantity('500m')) == quantity('1500m')",
    "quantity('1').add(2) == quantity('3')",
    "quantity('5').sub(quantity('1')).sub(1) == quantity('3')",
    "sign(quantity('-3')) == -1 && sign(quantity('0')) == 0 && sign(quantity('3')) == 1",
    "isQuantity('20') && isQuantity('1.5Gi') && !isQuantity('1Ga') && !isQuantity('')",
    "[quantity('1'), quantity('1000m')].all(q, q == quantity('1'))",
    "[1, 2, 2, 3].isSorted() && ![2, 1].isSorted() && [1.5, 2.5].isSorted()",
    "[1, 2, 3].sum() == 6 && [1.5, 2.5].sum() == 4.0 && [duration('1m'), duration('1s')].sum() == duration('61s')",
    "[3, 1, 2].min() == 1 && [1.5, 2.5].max() == 2.5 && [true, false].min() == false",
    "[1, 2, 2].indexOf(2) == 1 && [1, 2, 2].lastIndexOf(2) == 2 && [1].indexOf(2) == -1",
    "'abc 123'.find('[0-9]+') == '123' && 'abc'.find('[0-9]+') == ''",
    "'1 22 333'.findAll('[0-9]+') == ['1', '22', '333'] && '1 22 333'.findAll('[0-9]+', 2) == ['1', '22'] && '1 2'.findAll('[0-9]+', -1).size() == 2",
    "'1 2'.findAll('[0-9]+', 0) == []",
    "url('https://example.com:80/path/a%20b?k=a&k=b&x=%20y#f').getHost() == 'example.com:80'",
    "url('https://example.com:80/').getHostname() == 'example.com' && url('https://example.com:80/').getPort() == '80' && url('https://[::1]:80/').getHostname() == '::1' && url('https://[::1]:80/').getHost() == '[::1]:80'",
    "url('HTTPS://example.com').getScheme() == 'https' && url('/absolute').getScheme() == '' && url('/absolute/path').getEscapedPath() == '/absolute/path'",
    "url('https://example.com/with space/').getEscapedPath() == '/with%20space/'",
    "url('https://e.com/path?k1=a&k2=b&k2=c&k3=%20d').getQuery() == {'k1': ['a'], 'k2': ['b', 'c'], 'k3': [' d']}",
    "url('https://e.com/path').getQuery() == {}",
    "isURL('https://a.b') && isURL('/x') && !isURL('../x') && !isURL('x') && isURL('mailto:x@y') && !isURL('')",
    "url('https://user:pw@host/x').getHost() == 'host'",
    "url('https://a/b?c') == url('https://a/b?c')",
    "ip('127.0.0.1').family() == 4 && ip('::1').family() == 6",
    "ip('127.0.0.1').isLoopback() && ip('::1').isLoopback() && ip('0.0.0.0').isUnspecified() && ip('::').isUnspecified()",
    "ip('224.0.0.1').isLinkLocalMulticast() && ip('ff02::1').isLinkLocalMulticast() && !ip('224.0.1.1').isLinkLocalMulticast()",
    "ip('169.254.1.1').isLinkLocalUnicast() && ip('fe80::1').isLinkLocalUnicast()",
    "ip('192.168.0.1').isGlobalUnicast() && ip('2001:db8::abcd').isGlobalUnicast() && !ip('255.255.255.255').isGlobalUnicast() && !ip('224.0.0.1').isGlobalUnicast()",
    "isIP('1.2.3.4') && isIP('::1') && !isIP('1.2.3') && !isIP('::ffff:1.2.3.4') && !isIP('fe80::1%eth0')",
    "ip.isCanonical('127.0.0.1') && ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD') && !ip.isCanonical('2001:db8::0:0:0:abcd')",
    "cidr('192.168.0.0/24').containsIP('192.168.0.1') && cidr('192.168.0.0/24').containsIP(ip('192.168.0.1')) && !cidr('192.168.0.0/24').containsIP('192.168.1.1')",
    "cidr('192.168.0.0/16').containsCIDR('192.168.10.0/24') && cidr('192.168.0.0/16').containsCIDR(cidr('192.168.0.0/16')) && !cidr('192.168.0.0/24').containsCIDR('192.168.0.0/16')",
    "cidr('192.168.1.5/24').ip() == ip('192.168.1.5') && cidr('192.168.1.5/24').masked() == cidr('192.168.1.0/24') && cidr('::1/128').prefixLength() == 128",
    "isCIDR('10.0.0.0/8') && !isCIDR('10.0.0.0') && !isCIDR('10.0.0.0/33') && !isCIDR('10.0.0.0/08')",
    "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
    "semver('1.2.3').isLessThan(semver('1.2.4')) && semver('1.2.3').isGreaterThan(semver('1.2.3-rc1')) && semver('1.2.3').compareTo(semver('1.2.3+a')) == 0",
    "isSemver('1.2.3') && !isSemver('v1.2.3') && !isSemver('1.2') && isSemver('v1.2', true) && isSemver('01.02.03', true)",
    "semver('v01.01', true) == semver('1.1.0')",
    "'%s is %d'.format(['a', 3]) == 'a is 3'",
    "sets.contains([1, 2, 3], [2, 3]) && !sets.contains([1], [2]) && sets.equivalent([1, 1, 2], [2, 1]) && sets.intersects([1, 2], [2, 5]) && !sets.intersects([1], [2])",
    "!format.dns1123Label().validate('abc').hasValue() && format.dns1123Label().validate('A').value().size() == 1",
    "format.named('uuid').hasValue() && !format.named('nothing').hasValue()",
    "!format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue() && format.date().validate('x').value() == ['invalid date'] && format.byte().validate('%').value() == ['invalid base64']",
    "!format.dns1123LabelPrefix().validate('abc-').hasValue() && !format.qualifiedName().validate('a/b').hasValue() && !format.labelValue().validate('').hasValue() && !format.uri().validate('https://a').hasValue() && format.datetime().validate('x').hasValue()",
    "[1, 2, 3].all(i, v, i + 1 == v)",
    "['a', 'b'].exists(i, v, i == 1 && v == 'b')",
    "[1, 2].transformList(i, v, v * 2) == [2, 4]",
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
    "[3, 1, 2].sort() == [1, 2, 3] && [1, 2].reverse() == [2, 1] && lists.range(3) == [0, 1, 2] && [[1], [2]].flatten() == [1, 2] && [1, 1].distinct() == [1]",
    "type(1) == int && type('a') == string",
    "quantity(self.q).isGreaterThan(quantity('1Mi'))",
    "self.list.sum() == 6 && self.list.isSorted() && self.list.indexOf(3) == 2",
    "self.list.max() == 3 && sets.contains(self.list, [1])",
    "'abc'.matches('^a') && 'abc'.charAt(1) == 'b'",
];

/// Rules that do not hold, or cannot be evaluated.
const FAIL: [&str; 37] = [
    "quantity('1Ga').isInteger()",
    "quantity('').isInteger()",
    "quantity('1500m').asInteger() == 1",
    "quantity('1').isGreaterThan(quantity('2'))",
    "[].min() == 1",
    "self.none.max() == 1",
    "url('../x').getHost() == ''",
    "url('').getHost() == ''",
    "url('https://a b/').getHost() == ''",
    "url('https://a:b/').getHost() == ''",
    "url('https://a/%zz').getHost() == ''",
    "url(':x').getHost() == ''",
    "ip('1.2.3').family() == 4",
    "ip('1.2.3.4.5').family() == 4",
    "ip('1.2.3.256').family() == 4",
    "ip('1.2.3.04').family() == 4",
    "ip('x').family() == 4",
    "ip('').family() == 4",
    "ip('1.2.3.a').family() == 4",
    "ip('::x').family() == 4",
    "ip('fe80::1%eth0').family() == 6",
    "ip('::ffff:1.2.3.4').family() == 6",
    "ip.isCanonical('x')",
    "cidr('10.0.0.0').prefixLength() == 8",
    "cidr('10.0.0.0/33').prefixLength() == 8",
    "cidr('10.0.0.0/x').prefixLength() == 8",
    "cidr('10.0.0/8').prefixLength() == 8",
    "cidr('::ffff:1.2.3.4/120').prefixLength() == 8",
    "cidr('10.0.0.0/8').containsCIDR('x')",
    "semver('1.2').major() == 1",
    "semver('').major() == 1",
    "semver('a.b.c').major() == 1",
    "semver('1.02.3').major() == 1",
    "semver('1.2.3-').major() == 1",
    "semver('1-a', true).major() == 1",
    "self.q.find('x') == 'y'",
    "format.dns1123Label().validate('A').value() == []",
];

fn definition(rules: &[&str]) -> Value {
    let numbers = json!({"type": "array", "maxItems": 5, "items": {"type": "integer"}});
    let rules: Vec<_> = rules.iter().map(|rule| json!({"rule": rule})).collect();
    let spec = json!({
        "type": "object",
        "x-kubernetes-validations": rules,
        "properties": {"q": {"type": "string", "maxLength": 10}, "list": numbers, "none": numbers},
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.{ns}.example.com"},
        "spec": {
            "group": "{ns}.example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec},
            }}}],
        },
    })
}

fn case(name: &str, rules: &[&str]) -> Case {
    let thing = json!({
        "apiVersion": "{ns}.example.com/v1", "kind": "Thing", "metadata": {"name": "t"},
        "spec": {"q": "1Gi", "list": [1, 2, 3], "none": []},
    });
    Case::new(name)
        .ask(
            post(DEFINITIONS, &definition(rules))
                .named("define")
                .only(["/kind"]),
        )
        .until(get(THINGS), 200)
        .ask(post(THINGS, &thing).named("create"))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![case("functionshold", &HOLD), case("functionsfail", &FAIL)]
}
