//! Requests for certificates: what they say, who made them, and who decides about them.

use serde_json::{Value, json};

use crate::case::{Ask, Case, get, merge, post, put};

const PATH: &str = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/// A request by `O=g`, one by `O=system:masters`, and a certificate.
const OF_GROUP: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIUk1Ib0NBUUF3R0RFS01BZ0dBMVVFQXd3QmVERUtNQWdHQTFVRUNnd0JaekJaTUJNR0J5cUdTTTQ5QWdFRwpDQ3FHU000OUF3RUhBMElBQk4xM0VZVFdldjdZZDdEWVZ4OTF4TGx6dk9wZ3hZYS9GQjZhUFloaHc0aDUxYWZ0CjVtZ2h1SGhMSkk0ZVQ5NTVDaXJYc2xQak1sZ0RJWk5YSVM1aWdYV2dBREFLQmdncWhrak9QUVFEQWdOSEFEQkUKQWlBNEprNnVzRDc4WjBXUC82L1hrL0J6OXFsbjZaRGhDVHZBS0ltVjdBMFhQZ0lnUGZzQWVEcDFwblJNQzkxcQpZdFpBd29QYkppQ3ZobjFueDA1V2kwTTBLSzg9Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";
const OF_MASTERS: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIZk1JR0hBZ0VBTUNVeENqQUlCZ05WQkFNTUFYZ3hGekFWQmdOVkJBb01Ebk41YzNSbGJUcHRZWE4wWlhKegpNRmt3RXdZSEtvWkl6ajBDQVFZSUtvWkl6ajBEQVFjRFFnQUVqVFBXSVZibGtueGlTWWpERElYVlFHMmZ3Rkl1Ck1PbGtvNHU4NThDQ1NUOGR1Vm9SRWxJbk9UUjRBWUNwS3R4clpHMWJCajFhWUZjanZSZURISWRtdmFBQU1Bb0cKQ0NxR1NNNDlCQU1DQTBjQU1FUUNJQVl4Um4yQUphcE1kY2ZzRGg0SmtpbGdaUDd6VlFXYlk1dUg3c1NpQTg3WApBaUJoYktsRFhMU0Z0UmFJYW1Oakx5UldxSXlaTzFxRU9QV2gyd0NiZ3pDQmF3PT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0tCg==";
const CERTIFICATE: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJiekNDQVJXZ0F3SUJBZ0lVZnE4QzRISllYUnFWNXpFLzhzSk0wZ2dvV1I0d0NnWUlLb1pJemowRUF3SXcKRERFS01BZ0dBMVVFQXd3Qll6QWdGdzB5TmpFeE1qY3dPREEyTkROYUdBOHlNVEkyTVRFd016QTRNRFkwTTFvdwpEREVLTUFnR0ExVUVBd3dCWXpCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQk9wcFpsV2c4R2FJClZrUzJaTFlUYWxYUi9MdmxMZXJGMGt3cHpVUmhBSkxYQWJPdG5hZVg4Z1RwRnVZZTRQRGI2S3Y3bG5OaHBkQUwKLzIxcmdua1MvNWVqVXpCUk1CMEdBMVVkRGdRV0JCUXZzNjZyOERyWkN2a0UyNVdvUk83b1cyWWxxVEFmQmdOVgpIU01FR0RBV2dCUXZzNjZyOERyWkN2a0UyNVdvUk83b1cyWWxxVEFQQmdOVkhSTUJBZjhFQlRBREFRSC9NQW9HCkNDcUdTTTQ5QkFNQ0EwZ0FNRVVDSVFDTWxsMkNTcGpIOEp3ck5NVktPUmRUQ3V2M3g2Wkw0azIrak1UWFNJa2kKUUFJZ0hNWWVnSS9MblRDVElaUEZpMTlCRzltZUJxcmpNa3N3eTFuV1NvcjNQSk09Ci0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K";

const CLIENTS: &str = "kubernetes.io/kube-apiserver-client";

fn spec(more: Value) -> Value {
    let mut spec = json!({"request": OF_GROUP, "usages": ["client auth"], "signerName": "example.com/s"});
    spec.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    spec
}

fn new(name: &str, more: Value) -> Ask {
    let body = json!({"metadata": {"name": format!("{{ns}}-{name}")}, "spec": spec(more)});
    post(PATH, &body).named(format!("new {name}"))
}

fn change(name: &str, part: &str, patch: Value) -> Ask {
    merge(&format!("{PATH}/{{ns}}-a{part}"), &patch).named(name.to_owned())
}

fn conditions(conditions: Value) -> Value {
    json!({"status": {"conditions": conditions}})
}

fn requests() -> Case {
    let only = ["/message"];
    let signer = |name: &str| {
        new(
            &format!("signed by {name}").replace([' ', '/'], "-"),
            json!({"signerName": name}),
        )
        .only(only)
    };
    let who = json!({"username": "x", "uid": "y", "groups": ["z"], "extra": {"k": ["v"]}});
    Case::new("certificates")
        .ask(new("faults", json!({
            "request": "aGVsbG8=", "usages": ["any", "nonsense", "any"], "signerName": "nope", "expirationSeconds": 5,
        })).only(["/message", "/details/causes"]))
        .ask(new("nothing", json!({"request": "", "usages": []})).only(only))
        .ask(signer("example/x"))
        .ask(signer("a..b/x"))
        .ask(signer("a.b/x_y.z"))
        .ask(signer("a.b/c/d"))
        .ask(signer("kubernetes.io/legacy-unknown"))
        .ask(new("masters", json!({"request": OF_MASTERS, "signerName": CLIENTS})).only(only))
        .ask(new("masters-elsewhere", json!({"request": OF_MASTERS})).only(only))
        .ask(new("a", who.clone()).only(["/spec/groups", "/spec/extra", "/status", "/metadata/managedFields"]))
        .ask(change("another spec", "", json!({"spec": {"signerName": "a.b/c", "username": "u"}})).only(["/spec/signerName", "/spec/groups", "/message"]))
        .ask(change("a status by the main resource", "", conditions(json!([{"type": "Approved", "status": "True"}]))).only(["/status", "/message"]))
        .ask(change("no certificate", "/status", json!({"status": {"certificate": "aGVsbG8="}})).only(only))
        .ask(change("a request as a certificate", "/status", json!({"status": {"certificate": OF_GROUP}})).only(only))
        .ask(change("an approval by the status", "/status", conditions(json!([{"type": "Approved", "status": "True"}]))).only(only))
        .ask(change("approved falsely", "/approval", conditions(json!([{"type": "Approved", "status": "False"}, {"type": "x"}]))).only(only))
        .ask(change("without a type, and twice", "/approval", conditions(json!([
            {"type": "", "status": "True"}, {"type": "Other", "status": "False"}, {"type": "Other", "status": "Perhaps"},
        ]))).only(only))
        .ask(change("both", "/approval", conditions(json!([{"type": "Approved", "status": "True"}, {"type": "Denied", "status": "True"}]))).only(only))
        .ask(change("approve", "/approval", json!({
            "spec": {"signerName": "a.b/c"},
            "status": {"certificate": CERTIFICATE, "conditions": [{"type": "Approved", "status": "True", "reason": "r", "message": "m"}]},
        })).only(["/spec/signerName", "/status/certificate", "/status/conditions/0/reason", "/message"]))
        .ask(change("another reason by the status", "/status", conditions(json!([{"type": "Approved", "status": "True", "reason": "s"}]))).only(["/status/conditions/0/reason", "/status/conditions/0/message", "/message"]))
        .ask(change("another reason", "/approval", conditions(json!([{"type": "Approved", "status": "True", "reason": "s"}]))).only(["/status/conditions/0/reason", "/status/conditions/0/message", "/message"]))
        .ask(change("no approval any more", "/approval", conditions(json!([]))).only(only))
        .ask(change("no approval any more by the status", "/status", conditions(json!([]))).only(only))
        .ask(change("issue", "/status", json!({"status": {"certificate": CERTIFICATE}})).only(["/status/certificate", "/message"]))
        .ask(change("issue another", "/status", json!({"status": {"certificate": null}})).only(only))
        .ask(change("failed", "/status", conditions(json!([{"type": "Approved", "status": "True"}, {"type": "Failed", "status": "True"}]))).only(only))
        .ask(change("not failed", "/status", conditions(json!([{"type": "Approved", "status": "True"}]))).only(only))
        .ask(get(&format!("{PATH}/{{ns}}-a")).named("in the end").only(["/spec/groups", "/status/conditions/0/type", "/status/conditions/1/type", "/status/certificate"]))
        .ask(
            put(&format!("{PATH}/{{ns}}-a"), &json!({"metadata": {"name": "{ns}-a", "labels": {"a": "b"}}, "spec": spec(json!({"usages": []}))}))
                .named("a label")
                .only(["/message", "/metadata/labels", "/spec/usages"]),
        )
}

/// Who may make requests, but decide about those of one signer only.
fn signers() -> Case {
    let user = |ask: Ask| {
        ask.impersonating(
            "certificates-signers-u",
            &["system:authenticated", "certificates-signers-g"],
        )
    };
    let rules = json!([
        {"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests", "certificatesigningrequests/approval", "certificatesigningrequests/status"], "verbs": ["*"]},
        {"apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "resourceNames": ["example.com/s", "example.org/*"], "verbs": ["approve"]},
        {"apiGroups": ["certificates.k8s.io"], "resources": ["signers"], "resourceNames": ["example.org/s"], "verbs": ["sign"]},
    ]);
    let group =
        json!([{"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": "certificates-signers-g"}]);
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "{ns}"});
    let decide = |signer: &str| {
        change_of(
            signer,
            "/approval",
            conditions(json!([{"type": "Approved", "status": "True"}])),
        )
        .named(format!("approve for {signer}"))
        .only(["/message"])
    };
    let sign = |signer: &str| {
        change_of(signer, "/status", json!({"status": {"certificate": CERTIFICATE}}))
            .named(format!("sign for {signer}"))
            .only(["/message"])
    };
    let case = Case::new("certificates-signers")
        .ask(
            post(
                "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                &json!({"metadata": {"name": "{ns}"}, "rules": rules}),
            )
            .named("role")
            .only(["/message"]),
        )
        .ask(
            post(
                "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                &json!({"metadata": {"name": "{ns}"}, "subjects": group, "roleRef": role}),
            )
            .named("binding")
            .only(["/message"]),
        )
        .until(user_list(), 200);
    let signers = ["example.com/s", "example.org/s", "example.net/s"];
    signers.into_iter().fold(case, |case, signer| {
        let name = signer.replace('/', "-");
        case.ask(user(new(&name, json!({"signerName": signer}))).only([
            "/spec/username",
            "/spec/groups",
            "/message",
        ]))
        .ask(user(decide(signer)))
        .ask(user(sign(signer)))
        .ask(user(
            change_of(signer, "/status", json!({"metadata": {"labels": {"a": "b"}}}))
                .named(format!("label for {signer}"))
                .only(["/message"]),
        ))
    })
}

fn user_list() -> Ask {
    get(PATH).impersonating(
        "certificates-signers-u",
        &["system:authenticated", "certificates-signers-g"],
    )
}

fn change_of(signer: &str, part: &str, patch: Value) -> Ask {
    let name = signer.replace('/', "-");
    merge(&format!("{PATH}/{{ns}}-{name}{part}"), &patch)
}

pub(crate) fn cases() -> Vec<Case> {
    vec![requests(), signers()]
}
