//! Other kinds.

use serde_json::{Value, json};

use super::{Kind, with};
use crate::case::Case;

pub(super) fn others() -> Vec<Case> {
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let rule = |more: Value| json!({"rules": [with(json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}), more)]});
    let role = Kind::whole(
        "role",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles",
        rule(json!({})),
    );
    let of_cluster = Kind::whole(
        "clusterrole",
        format!("{rbac}/clusterroles").leak(),
        rule(json!({})),
    );
    let binding = Kind::whole(
        "rolebinding",
        "/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings",
        json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"}]}),
    );
    let to_cluster = Kind::whole(
        "clusterrolebinding",
        format!("{rbac}/clusterrolebindings").leak(),
        json!({"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}}),
    );
    let subject = |subject: Value| json!({"subjects": [subject]});
    let lease = || {
        Kind::new(
            "lease",
            "/apis/coordination.k8s.io/v1/namespaces/{ns}/leases",
            json!({"holderIdentity": "a"}),
        )
    };
    let event = Kind::whole(
        "event",
        "/api/v1/namespaces/{ns}/events",
        json!({"involvedObject": {"kind": "Pod", "name": "p", "namespace": "{ns}"}, "reason": "R", "message": "m", "type": "Normal"}),
    );
    let new_event = Kind::whole(
        "new-event",
        "/apis/events.k8s.io/v1/namespaces/{ns}/events",
        json!({"regarding": {"kind": "Pod", "name": "p", "namespace": "{ns}"}, "reason": "R", "note": "m", "type": "Normal", "action": "A", "reportingController": "a.example/c", "reportingInstance": "c-1", "eventTime": "2026-01-01T00:00:00.000000Z"}),
    );
    let node = Kind::new("node", "/api/v1/nodes", json!({}));
    let webhook = |more: Value| {
        let hook = json!({"name": "a.example.com", "clientConfig": {"service": {"name": "s", "namespace": "n"}}, "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}], "sideEffects": "None", "admissionReviewVersions": ["v1"]});
        json!({"webhooks": [with(hook, more)]})
    };
    let hooks = Kind::whole(
        "webhook",
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        webhook(json!({})),
    );
    let conditions = |conditions: Value| webhook(json!({"matchConditions": conditions}));
    let mutating = Kind::whole(
        "mutating-webhook",
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        webhook(json!({})),
    );
    let runtime = Kind::whole(
        "runtimeclass",
        "/apis/node.k8s.io/v1/runtimeclasses",
        json!({"handler": "h"}),
    );
    vec![
        role.objects([
            ("no verbs", rule(json!({"verbs": []}))),
            ("no groups", rule(json!({"apiGroups": []}))),
            ("no resources", rule(json!({"resources": []}))),
            ("paths", json!({"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]})),
            ("paths and resources", rule(json!({"nonResourceURLs": ["/x"]}))),
            ("nothing", json!({"rules": [{}]})),
        ]),
        of_cluster.objects([
            ("paths", json!({"rules": [{"nonResourceURLs": ["/x"], "verbs": ["get"]}]})),
            ("paths and resources", rule(json!({"nonResourceURLs": ["/x"]}))),
            ("a selector", json!({"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a b": "c"}}]}})),
            ("no selectors", json!({"aggregationRule": {"clusterRoleSelectors": []}})),
        ]),
        binding.objects([
            ("no role", json!({"roleRef": null})),
            ("a role's kind", json!({"roleRef": {"kind": "X"}})),
            ("a role's group", json!({"roleRef": {"apiGroup": "x"}})),
            ("no name of a role", json!({"roleRef": {"name": ""}})),
            ("a name of a role", json!({"roleRef": {"name": "a/b"}})),
            ("a subject's kind", subject(json!({"kind": "X", "name": "u"}))),
            ("no name of a subject", subject(json!({"kind": "User"}))),
            ("a subject's group", subject(json!({"kind": "User", "name": "u", "apiGroup": "x"}))),
            ("an account without a namespace", subject(json!({"kind": "ServiceAccount", "name": "u"}))),
            ("an account's name", subject(json!({"kind": "ServiceAccount", "name": "A_", "namespace": "n"}))),
            ("an account's group", subject(json!({"kind": "ServiceAccount", "name": "a", "namespace": "n", "apiGroup": "x"}))),
        ]),
        to_cluster.objects([("a role", json!({"roleRef": {"kind": "Role"}})), ("an account without a namespace", subject(json!({"kind": "ServiceAccount", "name": "u"})))]),
        lease().specs([
            ("a duration", json!({"leaseDurationSeconds": 0})),
            ("transitions", json!({"leaseTransitions": -1})),
            ("no holder", json!({"holderIdentity": ""})),
            ("a preferred holder", json!({"preferredHolder": "a"})),
            ("a strategy", json!({"strategy": "a b"})),
        ]),
        event.objects([
            ("no type", json!({"type": null})),
            ("a type", json!({"type": "X"})),
            ("an object elsewhere", json!({"involvedObject": {"namespace": "other"}})),
            ("an object without a namespace", json!({"involvedObject": {"namespace": null}})),
            ("a time", json!({"eventTime": "2026-01-01T00:00:00.000000Z"})),
            ("a name", json!({"metadata": {"name": "A_"}})),
        ]),
        new_event.objects([
            ("no time", json!({"eventTime": null})),
            ("no controller", json!({"reportingController": ""})),
            ("a controller", json!({"reportingController": "a b"})),
            ("no instance", json!({"reportingInstance": ""})),
            ("no action", json!({"action": ""})),
            ("no reason", json!({"reason": ""})),
            ("no type", json!({"type": ""})),
            ("a type", json!({"type": "X"})),
            ("a long note", json!({"note": "a".repeat(1025)})),
            ("an old field", json!({"deprecatedCount": 5})),
            ("an object elsewhere", json!({"regarding": {"namespace": "other"}})),
        ]),
        node.specs([
            ("a taint", json!({"taints": [{"key": "a b", "value": "c d", "effect": "X"}]})),
            ("no effect", json!({"taints": [{"key": "a"}]})),
            ("a taint twice", json!({"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "b", "effect": "NoSchedule"}]})),
            ("a range of pods", json!({"podCIDR": "x", "podCIDRs": ["x"]})),
        ]),
        hooks.objects([
            ("a name", webhook(json!({"name": "a"}))),
            ("no versions", webhook(json!({"admissionReviewVersions": []}))),
            ("an unknown version", webhook(json!({"admissionReviewVersions": ["v5"]}))),
            ("no side effects", webhook(json!({"sideEffects": null}))),
            ("side effects", webhook(json!({"sideEffects": "Some"}))),
            ("a policy", webhook(json!({"failurePolicy": "X"}))),
            ("a match policy", webhook(json!({"matchPolicy": "X"}))),
            ("a timeout", webhook(json!({"timeoutSeconds": 31}))),
            ("no client", webhook(json!({"clientConfig": {"service": null}}))),
            ("two clients", webhook(json!({"clientConfig": {"url": "https://a.example"}}))),
            ("an unsafe client", webhook(json!({"clientConfig": {"service": null, "url": "http://a.example"}}))),
            ("an operation", webhook(json!({"rules": [{"operations": ["X"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}))),
            ("no operations", webhook(json!({"rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}))),
            ("a selector", webhook(json!({"objectSelector": {"matchLabels": {"a b": "c"}}}))),
            ("all and one operation", webhook(json!({"rules": [{"operations": ["*", "CREATE"], "apiGroups": ["*", ""], "apiVersions": ["*", "v1"], "resources": ["pods/*", "pods/status"]}]}))),
            ("a scope", webhook(json!({"rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": [""], "resources": ["*", "pods", ""], "scope": "X"}]}))),
            ("a version twice", webhook(json!({"admissionReviewVersions": ["v1", "v1", "V"]}))),
            ("a webhook twice", json!({"webhooks": [webhook(json!({}))["webhooks"][0], webhook(json!({}))["webhooks"][0]]})),
            ("a condition of an unknown name", conditions(json!([{"name": "a", "expression": "imnotafield == null"}]))),
            ("a condition that is no truth", conditions(json!([{"name": "a", "expression": "'a'"}]))),
            ("a condition of variables", conditions(json!([{"name": "a", "expression": "variables.a"}]))),
            ("a condition of parameters", conditions(json!([{"name": "a", "expression": "params.a == 'a'"}]))),
            ("conditions of all names", conditions(json!([
                {"name": "a", "expression": "oldObject == null && object.metadata.name != '' && request.name != '' && namespaceObject.metadata.name != ''"},
                {"name": "b.example.com/b", "expression": "!authorizer.group('a').resource('b').name('c').check('d').allowed()"},
            ]))),
            ("no condition", conditions(json!([{"name": "a"}]))),
            ("a condition without a name", conditions(json!([{"expression": "true"}]))),
            ("a condition with a bad name", conditions(json!([{"name": " a", "expression": "true"}]))),
            ("a condition twice", conditions(json!([{"name": "a", "expression": "true"}, {"name": "a", "expression": "true"}]))),
            ("too many conditions", conditions((0..65).map(|n| json!({"name": format!("a{n}"), "expression": "true"})).collect())),
        ]),
        mutating.objects([("a reinvocation", webhook(json!({"reinvocationPolicy": "X"}))), ("a bad condition", conditions(json!([{"name": "a", "expression": "x"}])))]),
        runtime.objects([("no handler", json!({"handler": ""})), ("a handler", json!({"handler": "A_"}))]),
    ]
}
