//! Volumes, claims and classes.

use serde_json::json;

use super::Kind;
use crate::case::Case;

pub(super) fn storage() -> Vec<Case> {
    let claim = || {
        Kind::new(
            "claim",
            "/api/v1/namespaces/{ns}/persistentvolumeclaims",
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "s"}),
        )
    };
    let volume = || {
        Kind::new(
            "persistentvolume",
            "/api/v1/persistentvolumes",
            json!({"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}),
        )
    };
    let class = || {
        Kind::whole(
            "storageclass",
            "/apis/storage.k8s.io/v1/storageclasses",
            json!({"provisioner": "x.example", "parameters": {"a": "b"}}),
        )
    };
    vec![
        claim().specs([
            ("no modes", json!({"accessModes": []})),
            ("a mode", json!({"accessModes": ["X"]})),
            (
                "a mode of one pod with another",
                json!({"accessModes": ["ReadWriteOncePod", "ReadWriteOnce"]}),
            ),
            ("no storage", json!({"resources": null})),
            (
                "no storage of what is there",
                json!({"resources": {"requests": {"storage": "0"}}}),
            ),
            (
                "a negative storage",
                json!({"resources": {"requests": {"storage": "-1"}}}),
            ),
            (
                "another resource",
                json!({"resources": {"requests": {"storage": "1Gi", "cpu": "1"}}}),
            ),
            ("a class", json!({"storageClassName": "A_"})),
            ("a mode of volumes", json!({"volumeMode": "X"})),
            (
                "a selector",
                json!({"selector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}),
            ),
            ("a source", json!({"dataSource": {"kind": "Other", "name": "x"}})),
            (
                "a source without a name",
                json!({"dataSource": {"kind": "PersistentVolumeClaim", "name": ""}}),
            ),
        ]),
        claim()
            .changes([
                ("a mode", json!({"spec": {"accessModes": ["ReadWriteMany"]}})),
                (
                    "more storage",
                    json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}}),
                ),
                (
                    "less storage",
                    json!({"spec": {"resources": {"requests": {"storage": "1Mi"}}}}),
                ),
                ("a class", json!({"spec": {"storageClassName": "t"}})),
                ("a volume", json!({"spec": {"volumeName": "v"}})),
            ])
            .reasons(),
        volume().objects([
            ("no capacity", json!({"spec": {"capacity": null}})),
            (
                "another capacity",
                json!({"spec": {"capacity": {"storage": "1Gi", "cpu": "1"}}}),
            ),
            (
                "no capacity at all",
                json!({"spec": {"capacity": {"storage": "0"}}}),
            ),
            ("no modes", json!({"spec": {"accessModes": []}})),
            ("a mode", json!({"spec": {"accessModes": ["X"]}})),
            ("no source", json!({"spec": {"hostPath": null}})),
            (
                "two sources",
                json!({"spec": {"nfs": {"server": "s", "path": "/x"}}}),
            ),
            (
                "a policy",
                json!({"spec": {"persistentVolumeReclaimPolicy": "X"}}),
            ),
            ("a mode of volumes", json!({"spec": {"volumeMode": "X"}})),
            ("a class", json!({"spec": {"storageClassName": "A_"}})),
            (
                "a local path without a node",
                json!({"spec": {"hostPath": null, "local": {"path": "/x"}}}),
            ),
            (
                "a driver without a handle",
                json!({"spec": {"hostPath": null, "csi": {"driver": "d", "volumeHandle": ""}}}),
            ),
            (
                "a path that is to be recycled",
                json!({"spec": {"hostPath": {"path": "/"}, "persistentVolumeReclaimPolicy": "Recycle"}}),
            ),
        ]),
        class().objects([
            ("no provisioner", json!({"provisioner": ""})),
            ("a provisioner", json!({"provisioner": "A b"})),
            ("a policy", json!({"reclaimPolicy": "X"})),
            ("a mode", json!({"volumeBindingMode": "X"})),
            ("a parameter without a name", json!({"parameters": {"": "x"}})),
            (
                "a topology",
                json!({"allowedTopologies": [{"matchLabelExpressions": [{"key": "a b", "values": []}]}]}),
            ),
        ]),
    ]
}
