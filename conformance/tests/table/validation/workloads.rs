//! Workloads and jobs, which make pods.

use serde_json::{Value, json};

use super::{Kind, container, with};
use crate::case::Case;

fn template(spec: Value) -> Value {
    json!({"metadata": {"labels": {"a": "b"}}, "spec": spec})
}

fn selected() -> Value {
    json!({"selector": {"matchLabels": {"a": "b"}}, "template": template(container(json!({})))})
}

/// A template with a label, an annotation, containers and ends of its pods that are wrong.
fn bad_template() -> Value {
    json!({
        "metadata": {"labels": {"c d": "e"}, "annotations": {"f g": "h", "container.apparmor.security.beta.kubernetes.io/x": "y"}},
        "spec": {"containers": [{"image": "x"}], "restartPolicy": "Never", "activeDeadlineSeconds": 5, "hostname": "H_"},
    })
}

/// What all kinds with a selector and a template refuse.
fn selections() -> Vec<(&'static str, Value)> {
    vec![
        ("no spec", json!(null)),
        ("no selector", json!({"selector": null})),
        ("an empty selector", json!({"selector": {"matchLabels": null}})),
        (
            "another selector",
            json!({"selector": {"matchLabels": {"a": "c"}}}),
        ),
        (
            "a selector's label",
            json!({"selector": {"matchLabels": {"a b": "c d"}}}),
        ),
        (
            "a selector's operator",
            json!({"selector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}),
        ),
        (
            "a selector without values",
            json!({"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}),
        ),
        (
            "a selector with values",
            json!({"selector": {"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}}),
        ),
        (
            "a selector's key",
            json!({"selector": {"matchExpressions": [{"key": "a b", "operator": "Exists"}]}}),
        ),
        (
            "a selector's label and more",
            json!({"selector": {"matchLabels": {"a": "b c"}}, "template": bad_template()}),
        ),
        (
            "an empty selector and more",
            json!({"selector": {"matchLabels": null}, "template": bad_template()}),
        ),
        (
            "no selector and more",
            json!({"selector": null, "template": bad_template()}),
        ),
        (
            "another selector and more",
            json!({"selector": {"matchLabels": {"a": "c"}}, "template": bad_template()}),
        ),
        (
            "a selector's operator, quoted",
            json!({"selector": {"matchExpressions": [{"key": "a", "operator": "<X>"}]}}),
        ),
        ("no template", json!({"template": null})),
        ("no containers", json!({"template": {"spec": {"containers": []}}})),
        (
            "a restart policy",
            json!({"template": {"spec": {"restartPolicy": "Never"}}}),
        ),
        (
            "a deadline of pods",
            json!({"template": {"spec": {"activeDeadlineSeconds": 5}}}),
        ),
        (
            "a label of the template",
            json!({"template": {"metadata": {"labels": {"c d": "e"}}}}),
        ),
        (
            "an annotation of the template",
            json!({"template": {"metadata": {"annotations": {"c d": "e"}}}}),
        ),
        (
            "a volume of the template",
            json!({"template": {"spec": {"containers": [{"name": "c", "image": "x", "volumeMounts": [{"name": "w", "mountPath": "/w"}]}]}}}),
        ),
        ("negative replicas", json!({"replicas": -1})),
        ("a negative time", json!({"minReadySeconds": -1})),
        ("a negative history", json!({"revisionHistoryLimit": -1})),
    ]
}

pub(super) fn workloads() -> Vec<Case> {
    let rolling = |more: Value| json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": more}});
    let claim = json!({"metadata": {"name": "d"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}});
    let mut of_deployments = selections();
    of_deployments.extend([
        ("a strategy", json!({"strategy": {"type": "X"}})),
        ("a strategy, quoted", json!({"strategy": {"type": "<X>"}})),
        (
            "parameters of another strategy",
            json!({"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}),
        ),
        (
            "no progress",
            rolling(json!({"maxSurge": 0, "maxUnavailable": 0})),
        ),
        ("a percentage", rolling(json!({"maxSurge": "x%"}))),
        ("a percentage, quoted", rolling(json!({"maxUnavailable": "<%>"}))),
        (
            "too large a percentage",
            rolling(json!({"maxUnavailable": "150%"})),
        ),
        ("a negative number", rolling(json!({"maxUnavailable": -1}))),
        (
            "a short deadline",
            json!({"progressDeadlineSeconds": 5, "minReadySeconds": 10}),
        ),
        ("a negative deadline", json!({"progressDeadlineSeconds": -1})),
    ]);
    let mut of_stateful_sets = selections();
    of_stateful_sets.extend([
        ("a management policy", json!({"podManagementPolicy": "<X>"})),
        ("a strategy", json!({"updateStrategy": {"type": "X"}})),
        (
            "a partition",
            json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": -1}}}),
        ),
        (
            "a partition of another strategy",
            json!({"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}}),
        ),
        (
            "a claim without modes",
            json!({"volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {}}]}),
        ),
        ("a claim", json!({"volumeClaimTemplates": [claim]})),
        (
            "a retention",
            json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "X"}}),
        ),
        ("ordinals", json!({"ordinals": {"start": -1}})),
        ("a service's name", json!({"serviceName": "A_"})),
    ]);
    let mut of_daemon_sets = selections();
    of_daemon_sets.extend([
        ("a strategy", json!({"updateStrategy": {"type": "X"}})),
        ("no progress", json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}}})),
        ("too much progress", json!({"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}})),
    ]);
    let apps = "/apis/apps/v1/namespaces/{ns}";
    let path = |plural: &str| -> &'static str { format!("{apps}/{plural}").leak() };
    let changes = || {
        vec![
            (
                "a selector",
                json!({"spec": {"selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "c"}}}}}),
            ),
            (
                "a selector that does not match",
                json!({"spec": {"selector": {"matchLabels": {"a": "c"}}}}),
            ),
            (
                "a template that does not match",
                json!({"spec": {"template": {"metadata": {"labels": {"a": "c"}}}}}),
            ),
            ("negative replicas", json!({"spec": {"replicas": -1}})),
            (
                "no containers",
                json!({"spec": {"template": {"spec": {"containers": []}}}}),
            ),
            (
                "another image",
                json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "x"}]}}}}),
            ),
        ]
    };
    let mut of_stateful = changes();
    of_stateful.extend([
        ("a service", json!({"spec": {"serviceName": "t"}})),
        ("claims", json!({"spec": {"volumeClaimTemplates": [claim]}})),
        (
            "a management policy",
            json!({"spec": {"podManagementPolicy": "Parallel"}}),
        ),
        (
            "a history",
            json!({"spec": {"revisionHistoryLimit": 3, "minReadySeconds": 3}}),
        ),
    ]);
    let controller = json!({"selector": {"a": "b"}, "template": template(container(json!({})))});
    vec![
        Kind::new("deployment", path("deployments"), selected()).specs(of_deployments),
        Kind::new("replicaset", path("replicasets"), selected()).specs(selections()),
        Kind::new("statefulset", path("statefulsets"), selected()).specs(of_stateful_sets),
        Kind::new("daemonset", path("daemonsets"), selected()).specs(of_daemon_sets),
        Kind::new(
            "replicationcontroller",
            "/api/v1/namespaces/{ns}/replicationcontrollers",
            controller,
        )
        .specs([
            ("another selector", json!({"selector": {"a": "c"}})),
            ("no template", json!({"template": null})),
            ("negative replicas", json!({"replicas": -1})),
            (
                "a restart policy",
                json!({"template": {"spec": {"restartPolicy": "Never"}}}),
            ),
        ]),
        Kind::new("deployment", path("deployments"), selected()).changes(changes()),
        Kind::new("replicaset", path("replicasets"), selected()).changes(changes()),
        Kind::new("statefulset", path("statefulsets"), selected()).changes(of_stateful),
        Kind::new("daemonset", path("daemonsets"), selected()).changes(changes()),
    ]
}

pub(super) fn jobs() -> Vec<Case> {
    let never = || with(container(json!({})), json!({"restartPolicy": "Never"}));
    let rule = |rule: Value| json!({"podFailurePolicy": {"rules": [rule]}});
    let job = || {
        Kind::new(
            "job",
            "/apis/batch/v1/namespaces/{ns}/jobs",
            json!({"template": {"spec": never()}}),
        )
    };
    let cron = json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": {"spec": never()}}}});
    let cron = || Kind::new("cronjob", "/apis/batch/v1/namespaces/{ns}/cronjobs", cron.clone());
    vec![
        job().specs([
            ("a restart policy", json!({"template": {"spec": {"restartPolicy": null}}})),
            ("no template", json!({"template": null})),
            ("negative numbers", json!({"parallelism": -1, "completions": -1, "backoffLimit": -1, "activeDeadlineSeconds": -1, "ttlSecondsAfterFinished": -1})),
            ("a completion mode", json!({"completionMode": "X"})),
            ("no completions of what is indexed", json!({"completionMode": "Indexed"})),
            ("no selector by hand", json!({"manualSelector": true})),
            ("a selector by hand", json!({"manualSelector": true, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}}})),
            ("another selector by hand", json!({"manualSelector": true, "selector": {"matchLabels": {"a": "c"}}, "template": {"metadata": {"labels": {"a": "b"}}}})),
            ("a replacement policy", json!({"podReplacementPolicy": "X"})),
            ("a limit for each index", json!({"backoffLimitPerIndex": 1})),
            ("failed indexes", json!({"maxFailedIndexes": 1})),
            ("a failure policy's action", rule(json!({"action": "X", "onExitCodes": {"operator": "In", "values": [1]}}))),
            ("a failure policy's operator", rule(json!({"action": "FailJob", "onExitCodes": {"operator": "X", "values": [1]}}))),
            ("a failure policy without codes", rule(json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": []}}))),
            ("a failure policy of nothing", rule(json!({"action": "FailJob"}))),
            ("a failure policy of success", rule(json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0]}}))),
            ("a failure policy and restarts", with(rule(json!({"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}})), json!({"template": {"spec": {"restartPolicy": "OnFailure"}}}))),
        ]),
        // The selector that is shown has a uid.
        Kind { name: "job-selector", ..job() }.specs([("a selector", json!({"selector": {"matchLabels": {"a": "b"}}}))]).reasons(),
        job().changes([
            ("a template", json!({"spec": {"template": {"metadata": {"labels": {"x": "y"}}}}})),
            ("completions", json!({"spec": {"completions": 3}})),
            ("a mode", json!({"spec": {"completionMode": "Indexed"}})),
            ("a limit for each index", json!({"spec": {"backoffLimitPerIndex": 3}})),
            ("a negative parallelism", json!({"spec": {"parallelism": -3}})),
            ("a failure policy", json!({"spec": {"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}}]}}})),
        ]).reasons(),
        cron().specs([
            ("no schedule", json!({"schedule": ""})),
            ("a schedule", json!({"schedule": "x"})),
            ("a schedule of four fields", json!({"schedule": "* * * *"})),
            ("a minute", json!({"schedule": "60 * * * *"})),
            ("a step", json!({"schedule": "*/0 * * * *"})),
            ("a range", json!({"schedule": "5-1 * * * *"})),
            ("a month's name", json!({"schedule": "0 0 1 jan mon-fri"})),
            ("a macro", json!({"schedule": "@daily"})),
            ("another macro", json!({"schedule": "@bogus"})),
            ("every hour", json!({"schedule": "@every 1h30m"})),
            ("every something", json!({"schedule": "@every x"})),
            ("a zone in the schedule", json!({"schedule": "TZ=UTC * * * * *"})),
            ("a zone", json!({"timeZone": "Europe/Berlin"})),
            ("a zone that is none", json!({"timeZone": "Mars/Base"})),
            ("a zone, quoted", json!({"timeZone": "<Mars>"})),
            ("no zone", json!({"timeZone": ""})),
            ("the local zone", json!({"timeZone": "Local"})),
            ("a concurrency", json!({"concurrencyPolicy": "X"})),
            ("a negative deadline", json!({"startingDeadlineSeconds": -1})),
            ("negative histories", json!({"successfulJobsHistoryLimit": -1, "failedJobsHistoryLimit": -1})),
            ("a restart policy", json!({"jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Always"}}}}})),
            ("a selector", json!({"jobTemplate": {"spec": {"selector": {"matchLabels": {"a": "b"}}}}})),
            ("no containers", json!({"jobTemplate": {"spec": {"template": {"spec": {"containers": []}}}}})),
        ]),
        cron().changes([
            ("a schedule", json!({"spec": {"schedule": "x"}})),
            ("a template", json!({"spec": {"jobTemplate": {"spec": {"completions": 2}}}})),
        ]),
    ]
}
