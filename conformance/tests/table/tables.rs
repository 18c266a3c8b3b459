//! Tables of every built-in kind, and of columns that definitions add.

use crate::case::{Ask, Case, get, merge, post};
use crate::objects::{DEFINITIONS, PODS, WIDGETS, config_map, definition};
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;g=meta.k8s.io;v=v1";

/// An object, its status if it is written apart, and its table.
fn shown(path: &str, object: &Value, status: Option<&Value>) -> Vec<Ask> {
    let name = object["metadata"]["name"].as_str().expect("a name");
    let own = format!("{path}/{name}");
    let what = format!("{} {name}", object["kind"].as_str().expect("a kind"));
    let create = post(path, object).named(format!("create {what}")).only(["/kind"]);
    let status = status.map(|status| {
        merge(&format!("{own}/status"), &json!({"status": status}))
            .named(format!("status of {what}"))
            .only(["/kind"])
    });
    let table = get(&own).accept(TABLE).named(format!("table of {what}"));
    let table = table.only(["/columnDefinitions", "/rows/0/cells", "/rows/0/conditions"]);
    [create].into_iter().chain(status).chain([table]).collect()
}

fn kind(path: &str, kind: &str, name: &str, body: Value, status: Option<Value>) -> Vec<Ask> {
    let api_version = match path.split('/').collect::<Vec<_>>()[..] {
        ["", "api", version, ..] => version.to_owned(),
        ["", "apis", group, version, ..] => format!("{group}/{version}"),
        _ => unreachable!("a path of the API"),
    };
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    for (field, value) in body.as_object().expect("an object") {
        match field.as_str() {
            "annotations" | "labels" | "ownerReferences" => object["metadata"][field] = value.clone(),
            _ => object[field] = value.clone(),
        }
    }
    shown(path, &object, status.as_ref())
}

fn template() -> Value {
    json!({
        "metadata": {"labels": {"b": "2", "a": "1"}},
        "spec": {"containers": [{"name": "c", "image": "x:1"}, {"name": "d", "image": "y:2"}]},
    })
}

fn selector() -> Value {
    json!({"matchLabels": {"a": "1"}, "matchExpressions": [
        {"key": "b", "operator": "In", "values": ["2", "1"]}, {"key": "c", "operator": "NotIn", "values": ["x"]},
        {"key": "d", "operator": "DoesNotExist"}, {"key": "a", "operator": "Exists"},
    ]})
}

fn workloads() -> Case {
    let apps = |plural: &str| format!("/apis/apps/v1/namespaces/{{ns}}/{plural}");
    let core = |plural: &str| format!("/api/v1/namespaces/{{ns}}/{plural}");
    let batch = |plural: &str| format!("/apis/batch/v1/namespaces/{{ns}}/{plural}");
    let spec = json!({"replicas": 3, "selector": selector(), "template": template()});
    let job = |more: Value| {
        let mut spec = json!({"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}});
        for (field, value) in more.as_object().expect("an object") {
            spec[field] = value.clone();
        }
        json!({"spec": spec})
    };
    let scaled = |metrics: Value| json!({"spec": {"maxReplicas": 5, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}, "metrics": metrics}});
    let of_resource =
        |name: &str, target: Value| json!({"type": "Resource", "resource": {"name": name, "target": target}});
    let scalers = "/apis/autoscaling/v2/namespaces/{ns}/horizontalpodautoscalers";
    let old_scalers = "/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers";
    let budgets = "/apis/policy/v1/namespaces/{ns}/poddisruptionbudgets";
    let owner = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "u", "controller": true}]);
    Case::new("tables-workloads")
        .asks(kind(&apps("deployments"), "Deployment", "d", json!({"spec": spec}),
            Some(json!({"replicas": 3, "updatedReplicas": 2, "readyReplicas": 1, "availableReplicas": 1}))))
        .asks(kind(&apps("replicasets"), "ReplicaSet", "r", json!({"spec": spec}), Some(json!({"replicas": 3, "readyReplicas": 1}))))
        .asks(kind(&apps("statefulsets"), "StatefulSet", "s", json!({"spec": {"serviceName": "s", "replicas": 3, "selector": selector(), "template": template()}}),
            Some(json!({"replicas": 3, "readyReplicas": 1}))))
        .asks(kind(&apps("daemonsets"), "DaemonSet", "ds", json!({"spec": {"selector": {"matchLabels": {"a": "1"}}, "template": {
            "metadata": {"labels": {"a": "1"}}, "spec": {"nodeSelector": {"z": "1", "k": "2"}, "containers": [{"name": "c", "image": "x"}]}}}}),
            Some(json!({"desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3, "updatedNumberScheduled": 2, "numberAvailable": 1, "numberMisscheduled": 0}))))
        .asks(kind(&apps("controllerrevisions"), "ControllerRevision", "cr", json!({"revision": 7, "data": {}, "ownerReferences": owner}), None))
        .asks(kind(&apps("controllerrevisions"), "ControllerRevision", "alone", json!({"revision": 8, "data": {}}), None))
        .asks(kind(&core("replicationcontrollers"), "ReplicationController", "rc",
            json!({"spec": {"replicas": 2, "selector": {"b": "2", "a": "1"}, "template": template()}}), Some(json!({"replicas": 2, "readyReplicas": 1}))))
        .asks(kind(&core("podtemplates"), "PodTemplate", "pt", json!({"template": template()}), None))
        .asks(kind(&batch("jobs"), "Job", "j", job(json!({"completions": 3, "parallelism": 2})), Some(json!({"succeeded": 1, "active": 1}))))
        .asks(kind(&batch("jobs"), "Job", "many", job(json!({"parallelism": 4})), None))
        .asks(kind(&batch("jobs"), "Job", "suspended", job(json!({"suspend": true})),
            Some(json!({"conditions": [{"type": "Suspended", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}]}))))
        .asks(kind(&batch("cronjobs"), "CronJob", "cj", json!({"spec": {"schedule": "* * * * *", "timeZone": "Etc/UTC", "jobTemplate": job(json!({}))}}), None))
        .asks(kind(&batch("cronjobs"), "CronJob", "asleep", json!({"spec": {"schedule": "@daily", "suspend": true, "jobTemplate": job(json!({}))}}), None))
        .asks(kind(budgets, "PodDisruptionBudget", "b", json!({"spec": {"minAvailable": 2, "selector": {}}}), Some(json!({"disruptionsAllowed": 1, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}))))
        .asks(kind(budgets, "PodDisruptionBudget", "c", json!({"spec": {"maxUnavailable": "20%"}}), None))
        .asks(kind(old_scalers, "HorizontalPodAutoscaler", "old", json!({"spec": {"maxReplicas": 5, "targetCPUUtilizationPercentage": 50, "scaleTargetRef": {"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"}}}), None))
        .asks(kind(scalers, "HorizontalPodAutoscaler", "of-resources", scaled(json!([
            of_resource("cpu", json!({"type": "Utilization", "averageUtilization": 50})), of_resource("memory", json!({"type": "AverageValue", "averageValue": "1Gi"})),
        ])), Some(json!({"currentReplicas": 2, "desiredReplicas": 2, "currentMetrics": [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 20, "averageValue": "5m"}}}]}))))
        .asks(kind(scalers, "HorizontalPodAutoscaler", "of-others", scaled(json!([
            {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}}},
            {"type": "Object", "object": {"metric": {"name": "m"}, "describedObject": {"kind": "Service", "name": "s"}, "target": {"type": "Value", "value": "6"}}},
            {"type": "External", "external": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "7"}}},
        ])), None))
}

fn pods() -> Case {
    let spec = json!({
        "initContainers": [{"name": "i", "image": "x"}, {"name": "s", "image": "x", "restartPolicy": "Always"}],
        "containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "x"}],
        "readinessGates": [{"conditionType": "example.com/one"}, {"conditionType": "example.com/two"}],
    });
    let of = |name: &str, status: Value| kind(PODS, "Pod", name, json!({"spec": spec}), Some(status));
    let container = |name: &str, ready: bool, state: Value| json!({"name": name, "ready": ready, "restartCount": 2, "image": "x", "imageID": "", "state": state});
    let ended = |code: i64, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason}});
    let ready = json!([{"type": "Ready", "status": "True"}, {"type": "Initialized", "status": "True"}, {"type": "example.com/two", "status": "True"}]);
    Case::new("tables-pods")
        .asks(of("runs", json!({"phase": "Running", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}], "conditions": ready, "containerStatuses": [
            container("a", true, json!({"running": {}})), container("b", true, json!({"running": {}}))]})))
        .asks(of("crashes", json!({"phase": "Running", "containerStatuses": [
            container("a", false, json!({"waiting": {"reason": "CrashLoopBackOff"}})), container("b", true, json!({"running": {}}))]})))
        .asks(of("half", json!({"phase": "Running", "conditions": ready, "containerStatuses": [
            container("a", false, ended(0, "Completed")), container("b", true, json!({"running": {}}))]})))
        .asks(of("not-ready", json!({"phase": "Running", "containerStatuses": [
            container("a", false, ended(0, "Completed")), container("b", true, json!({"running": {}}))]})))
        .asks(of("half-failed", json!({"phase": "Running", "containerStatuses": [
            container("a", false, ended(0, "Completed")), container("b", false, ended(1, "Error"))]})))
        .asks(of("exited", json!({"phase": "Failed", "containerStatuses": [container("a", false, ended(3, ""))]})))
        .asks(of("done", json!({"phase": "Succeeded", "containerStatuses": [container("a", false, ended(0, "Completed"))]})))
        .asks(of("evicted", json!({"phase": "Failed", "reason": "Evicted"})))
        .asks(of("begins", json!({"phase": "Pending", "initContainerStatuses": [container("i", false, json!({"running": {}}))]})))
        .asks(of("cannot-begin", json!({"phase": "Pending", "initContainerStatuses": [container("i", false, json!({"waiting": {"reason": "ErrImagePull"}}))]})))
        .asks(of("failed-to-begin", json!({"phase": "Pending", "initContainerStatuses": [container("i", false, ended(4, ""))]})))
        .asks(of("with-sidecar", json!({"phase": "Running", "initContainerStatuses": [
            container("i", false, ended(0, "Completed")),
            {"name": "s", "ready": true, "started": true, "restartCount": 1, "image": "x", "imageID": "", "state": {"running": {}}}]})))
        .asks(of("gated", json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]})))
}

fn networking() -> Case {
    let core = |plural: &str| format!("/api/v1/namespaces/{{ns}}/{plural}");
    let networking = |plural: &str| format!("/apis/networking.k8s.io/v1/namespaces/{{ns}}/{plural}");
    let slices = "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices";
    let ips = |ips: &[&str]| ips.iter().map(|ip| json!({"ip": ip})).collect::<Value>();
    let rule = |host: &str| {
        let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
        json!({"host": host, "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}})
    };
    Case::new("tables-networking")
        .asks(kind(&core("services"), "Service", "headless", json!({"spec": {"clusterIP": "None", "selector": {"b": "2", "a": "1"}, "ports": [{"port": 80, "name": "a"}, {"port": 53, "protocol": "UDP", "name": "b"}]}}), None))
        .asks(kind(&core("services"), "Service", "elsewhere", json!({"spec": {"type": "ExternalName", "externalName": "a.example"}}), None))
        .asks(kind(&core("services"), "Service", "balanced", json!({"spec": {"type": "LoadBalancer", "clusterIP": "10.96.0.10", "allocateLoadBalancerNodePorts": false, "externalIPs": ["9.9.9.9"], "ports": [{"port": 80}]}}),
            Some(json!({"loadBalancer": {"ingress": [{"ip": "2.2.2.2"}, {"hostname": "a.example"}, {"ip": "1.1.1.1"}]}}))))
        .asks(kind(&core("services"), "Service", "pending", json!({"spec": {"type": "LoadBalancer", "clusterIP": "10.96.0.11", "allocateLoadBalancerNodePorts": false, "ports": [{"port": 80}]}}), None))
        .asks(kind(&core("endpoints"), "Endpoints", "e", json!({"subsets": [
            {"addresses": ips(&["10.0.0.1", "10.0.0.2"]), "ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]}]}), None))
        .asks(kind(&core("endpoints"), "Endpoints", "none", json!({}), None))
        .asks(kind(&core("endpoints"), "Endpoints", "no-ports", json!({"subsets": [{"addresses": ips(&["10.0.0.1"])}]}), None))
        .asks(kind(slices, "EndpointSlice", "sl", json!({"addressType": "IPv4", "ports": [{"port": 80, "name": "a"}, {"name": "b"}],
            "endpoints": [{"addresses": ["10.0.0.1"]}, {"addresses": ["10.0.0.2"]}, {"addresses": ["10.0.0.3"]}, {"addresses": ["10.0.0.4"]}]}), None))
        .asks(kind(slices, "EndpointSlice", "empty", json!({"addressType": "IPv6", "endpoints": []}), None))
        .asks(kind(&networking("ingresses"), "Ingress", "i", json!({"spec": {"ingressClassName": "c", "tls": [{}], "rules": [rule("a.example"), rule("b.example"), rule("c.example"), rule("d.example")]}}),
            Some(json!({"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}]}}))))
        .asks(kind(&networking("ingresses"), "Ingress", "any", json!({"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}}), None))
        .asks(kind("/apis/networking.k8s.io/v1/ingressclasses", "IngressClass", "{ns}", json!({"annotations": {"ingressclass.kubernetes.io/is-default-class": "false"},
            "spec": {"controller": "example.com/c", "parameters": {"apiGroup": "example.com", "kind": "P", "name": "p", "scope": "Cluster"}}}), None))
        .asks(kind(&networking("networkpolicies"), "NetworkPolicy", "all", json!({"spec": {"podSelector": {}}}), None))
        .asks(kind(&networking("networkpolicies"), "NetworkPolicy", "some", json!({"spec": {"podSelector": selector()}}), None))
        .asks(kind("/apis/networking.k8s.io/v1/servicecidrs", "ServiceCIDR", "{ns}", json!({"spec": {"cidrs": ["10.200.0.0/24"]}}), None))
}

fn storage() -> Case {
    let storage = |plural: &str| format!("/apis/storage.k8s.io/v1/{plural}");
    let resource = |plural: &str| format!("/apis/resource.k8s.io/v1/{plural}");
    let claims = "/api/v1/namespaces/{ns}/persistentvolumeclaims";
    let claim = |more: Value| {
        let mut spec =
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        for (field, value) in more.as_object().expect("an object") {
            spec[field] = value.clone();
        }
        json!({"spec": spec})
    };
    let volume = json!({"spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"], "hostPath": {"path": "/x"},
        "storageClassName": "slow", "claimRef": {"namespace": "n", "name": "c"}}});
    Case::new("tables-storage")
        .asks(kind(claims, "PersistentVolumeClaim", "unbound", claim(json!({"storageClassName": "fast"})), None))
        .asks(kind(claims, "PersistentVolumeClaim", "bound", claim(json!({"volumeName": "v", "volumeMode": "Block"})),
            Some(json!({"phase": "Bound", "accessModes": ["ReadWriteOnce", "ReadOnlyMany"], "capacity": {"storage": "5Gi"}}))))
        .asks(kind("/api/v1/persistentvolumes", "PersistentVolume", "{ns}", volume, None))
        .asks(kind(&storage("storageclasses"), "StorageClass", "{ns}", json!({"provisioner": "example.com/p", "annotations": {"storageclass.kubernetes.io/is-default-class": "false"}}), None))
        .asks(kind(&storage("storageclasses"), "StorageClass", "{ns}-retained", json!({"provisioner": "example.com/p", "reclaimPolicy": "Retain", "allowVolumeExpansion": true, "volumeBindingMode": "WaitForFirstConsumer"}), None))
        .asks(kind(&storage("csidrivers"), "CSIDriver", "{ns}.example.com", json!({"spec": {"attachRequired": false, "tokenRequests": [{"audience": "a"}, {"audience": "b"}]}}), None))
        .asks(kind(&storage("csinodes"), "CSINode", "{ns}", json!({"spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": null}]}}), None))
        .asks(kind(&storage("volumeattachments"), "VolumeAttachment", "{ns}", json!({"spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}}), Some(json!({"attached": true}))))
        .asks(kind(&storage("volumeattributesclasses"), "VolumeAttributesClass", "{ns}", json!({"driverName": "d", "parameters": {"a": "b"}}), None))
        .asks(kind("/apis/storage.k8s.io/v1/namespaces/{ns}/csistoragecapacities", "CSIStorageCapacity", "c", json!({"storageClassName": "s", "capacity": "1Gi"}), None)
            .into_iter().take(1))
        .asks(kind(&resource("deviceclasses"), "DeviceClass", "{ns}", json!({"spec": {}}), None))
        .asks(kind(&resource("resourceslices"), "ResourceSlice", "{ns}", json!({"spec": {"driver": "d.example.com", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}), None))
        .asks(kind(&resource("namespaces/{ns}/resourceclaims"), "ResourceClaim", "rc", json!({"spec": {}}), None))
}

fn others() -> Case {
    let core = |plural: &str| format!("/api/v1/namespaces/{{ns}}/{plural}");
    let rbac = |plural: &str| format!("/apis/rbac.authorization.k8s.io/v1/{plural}");
    let admission = |plural: &str| format!("/apis/admissionregistration.k8s.io/v1/{plural}");
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"});
    let subjects = json!([
        {"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "User", "name": "v", "apiGroup": "rbac.authorization.k8s.io"},
        {"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
    ]);
    let event = |name: &str, more: Value| {
        let mut event = json!({"metadata": {"name": name, "namespace": "{ns}"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "{ns}", "fieldPath": "spec.containers{c}"},
            "type": "Normal", "reason": "Made", "message": " made \n"});
        for (field, value) in more.as_object().expect("an object") {
            event[field] = value.clone();
        }
        event.as_object_mut().expect("an object").remove("metadata");
        kind(&core("events"), "Event", name, event, None)
    };
    let node = json!({"labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "db"}, "spec": {"unschedulable": true}});
    let node_status = json!({"conditions": [{"type": "Ready", "status": "False"}], "addresses": [{"type": "InternalIP", "address": "1.2.3.4"}],
        "nodeInfo": {"kubeletVersion": "v1", "kernelVersion": "6", "architecture": "amd64", "osImage": "", "machineID": "", "systemUUID": "", "bootID": "", "containerRuntimeVersion": "c", "kubeProxyVersion": "", "operatingSystem": ""}});
    Case::new("tables-others")
        .asks(shown(&core("configmaps"), &config_map("m", "web"), None))
        .asks(kind(&core("secrets"), "Secret", "s", json!({"type": "example.com/t", "data": {"a": "Yg=="}}), None))
        .asks(kind(&core("serviceaccounts"), "ServiceAccount", "sa", json!({}), None))
        .asks(kind(&core("limitranges"), "LimitRange", "l", json!({"spec": {"limits": []}}), None))
        .asks(kind(&core("resourcequotas"), "ResourceQuota", "q", json!({"spec": {"hard": {"pods": "5", "limits.cpu": "2", "cpu": "1"}}}),
            Some(json!({"hard": {"pods": "5", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "3"}}))))
        .asks(event("one", json!({"source": {"component": "c", "host": "h"}})))
        .asks(event("counted", json!({"reportingComponent": "example.com/r", "count": 5})))
        .asks(kind("/api/v1/nodes", "Node", "{ns}", node, Some(node_status)))
        .asks(kind(&rbac("namespaces/{ns}/roles"), "Role", "r", json!({"rules": []}), None).into_iter().take(1))
        .asks(kind(&rbac("namespaces/{ns}/rolebindings"), "RoleBinding", "rb", json!({"roleRef": reference, "subjects": subjects}), None))
        .asks(kind(&rbac("clusterrolebindings"), "ClusterRoleBinding", "{ns}", json!({"roleRef": reference, "subjects": subjects}), None))
        .asks(kind("/apis/coordination.k8s.io/v1/namespaces/{ns}/leases", "Lease", "l", json!({"spec": {"holderIdentity": "me"}}), None))
        .asks(kind("/apis/scheduling.k8s.io/v1/priorityclasses", "PriorityClass", "{ns}", json!({"value": 5}), None))
        .asks(kind("/apis/node.k8s.io/v1/runtimeclasses", "RuntimeClass", "{ns}", json!({"handler": "h"}), None))
        .asks(kind(&admission("validatingwebhookconfigurations"), "ValidatingWebhookConfiguration", "{ns}", json!({"webhooks": []}), None))
        .asks(kind(&admission("mutatingwebhookconfigurations"), "MutatingWebhookConfiguration", "{ns}", json!({"webhooks": []}), None))
        .asks(kind(&admission("validatingadmissionpolicies"), "ValidatingAdmissionPolicy", "{ns}.example.com", json!({"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {"resourceRules": [{"apiGroups": ["example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["nothings"]}]}, "validations": [{"expression": "true"}]}}), None))
        .asks(kind(&admission("validatingadmissionpolicybindings"), "ValidatingAdmissionPolicyBinding", "{ns}.example.com", json!({"spec": {"policyName": "p",
            "paramRef": {"name": "m", "parameterNotFoundAction": "Allow"}, "validationActions": ["Deny"]}}), None))
        .asks(kind("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "FlowSchema", "{ns}", json!({"spec": {"matchingPrecedence": 900, "priorityLevelConfiguration": {"name": "none"}}}), None)
            .into_iter().take(1))
        .asks(kind("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", "PriorityLevelConfiguration", "{ns}", json!({"spec": {"type": "Limited", "limited": {"nominalConcurrencyShares": 5, "limitResponse": {"type": "Reject"}}}}), None))
        .ask(get("/api/v1/namespaces/{ns}/events").accept(TABLE).named("events").only(["/columnDefinitions"]))
        .ask(get("/apis/events.k8s.io/v1/namespaces/{ns}/events/one").accept(TABLE).named("an event of events.k8s.io").only(["/columnDefinitions", "/rows/0/cells"]))
        .ask(get("/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers").accept(TABLE).named("no autoscalers").only(["/columnDefinitions", "/rows"]))
        .ask(get("/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles").accept(TABLE).named("roles").only(["/columnDefinitions"]))
}

fn definitions() -> Case {
    let columns = json!([
        {"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"},
        {"name": "Not", "type": "string", "jsonPath": ".status.conditions[?(@.type!='Ready')].status", "priority": 1},
        {"name": "First", "type": "string", "jsonPath": ".spec.hosts[0]"},
        {"name": "Last", "type": "string", "jsonPath": ".spec.hosts[-1:]"},
        {"name": "All", "type": "string", "jsonPath": ".spec.hosts"},
        {"name": "Each", "type": "string", "jsonPath": ".spec.hosts[*]"},
        {"name": "Beyond", "type": "string", "jsonPath": ".spec.hosts[9]"},
        {"name": "Quoted", "type": "string", "jsonPath": ".spec['size']"},
        {"name": "Dotted", "type": "string", "jsonPath": ".metadata.annotations.example\\.com/a"},
        {"name": "Deep", "type": "string", "jsonPath": ".spec..name"},
        {"name": "Size", "type": "integer", "jsonPath": ".spec.size", "format": "int32", "description": "How large it is"},
        {"name": "Share", "type": "number", "jsonPath": ".spec.share"},
        {"name": "Done", "type": "boolean", "jsonPath": ".spec.done"},
        {"name": "Wrong", "type": "integer", "jsonPath": ".spec.done"},
        {"name": "Text", "type": "string", "jsonPath": ".spec.share"},
        {"name": "Object", "type": "string", "jsonPath": ".spec.deep"},
        {"name": "Missing", "type": "string", "jsonPath": ".spec.missing"},
        {"name": "No Date", "type": "date", "jsonPath": ".spec.missing"},
        {"name": "Bad Date", "type": "date", "jsonPath": ".spec.hosts[0]"},
        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
    ]);
    let mut defined = definition();
    defined["spec"]["versions"][0]["additionalPrinterColumns"] = columns;
    let (old, old_columns) = (
        "/apis/{ns}.example.com/v1beta1/namespaces/{ns}/widgets",
        json!([]),
    );
    defined["spec"]["versions"][1]["additionalPrinterColumns"] = old_columns;
    let full = json!({
        "apiVersion": "{ns}.example.com/v1", "kind": "Widget", "metadata": {"name": "w", "annotations": {"example.com/a": "noted"}},
        "spec": {"hosts": ["a", "b"], "size": 5, "share": 1.5, "done": true, "deep": {"er": {"name": "n"}}},
    });
    let status =
        json!({"conditions": [{"type": "Synced", "status": "False"}, {"type": "Ready", "status": "True"}]});
    let empty =
        json!({"apiVersion": "{ns}.example.com/v1", "kind": "Widget", "metadata": {"name": "x"}, "spec": {}});
    Case::new("tables-defined")
        .ask(post(DEFINITIONS, &defined).named("define").only(["/kind"]))
        .until(get(WIDGETS), 200)
        .until(get(old), 200)
        .asks(shown(WIDGETS, &full, Some(&status)))
        .asks(shown(WIDGETS, &empty, None))
        .ask(
            get(old)
                .accept(TABLE)
                .named("in the other version")
                .only(["/columnDefinitions", "/rows/0/cells"]),
        )
        .ask(
            get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.{ns}.example.com")
                .accept(TABLE)
                .named("the definition")
                .only(["/columnDefinitions"]),
        )
}

pub(crate) fn cases() -> Vec<Case> {
    vec![
        workloads(),
        pods(),
        networking(),
        storage(),
        others(),
        definitions(),
    ]
}
