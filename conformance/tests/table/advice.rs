//! Warnings about objects of built-in kinds, which are taken.

use serde_json::{Value, json};

use crate::case::{Ask, Case, merge, post, put};

fn path(plural: &str) -> String {
    match plural.split_once('/') {
        None => format!("/api/v1/namespaces/{{ns}}/{plural}"),
        Some((group, plural)) => format!("/apis/{group}/v1/namespaces/{{ns}}/{plural}"),
    }
}

fn cluster_path(plural: &str) -> String {
    match plural.split_once('/') {
        None => format!("/api/v1/{plural}"),
        Some((group, plural)) => format!("/apis/{group}/v1/{plural}"),
    }
}

/// Creates an object, of which only the warnings are compared.
fn new(path: &str, name: &str, annotations: Value, body: Value) -> Ask {
    let mut body = body;
    body["metadata"] = json!({"name": name, "annotations": annotations});
    post(path, &body).named(format!("new {name}")).only(["/message"])
}

fn pods() -> Case {
    let pod = |name: &str, annotations: Value, spec: Value| {
        let mut spec = spec;
        if spec["containers"].is_null() {
            spec["containers"] = json!([{"name": "c", "image": "i"}]);
        }
        new(&path("pods?dryRun=All"), name, annotations, json!({"spec": spec}))
    };
    let with = |name: &str, container: Value| {
        let mut container = container;
        container["name"] = "c".into();
        container["image"] = "i".into();
        pod(name, json!({}), json!({"containers": [container]}))
    };
    let of = |name: &str, spec: Value| pod(name, json!({}), spec);
    let expression = |key: &str, values: Value| json!({"key": key, "operator": "In", "values": values});
    let old = |key: &str| json!({"matchExpressions": [expression(key, json!(["x"]))]});
    let volumes = |name: &str, volumes: Value| of(name, json!({"volumes": volumes}));
    let files = |paths: &[&str]| -> Vec<Value> {
        let paths = paths.iter().enumerate();
        paths
            .map(|(n, path)| json!({"key": format!("k{n}"), "path": path}))
            .collect()
    };
    let variable = |name: &str, value: &str| json!({"name": name, "value": value});
    Case::new("advice-pods")
        .ask(of("a.b", json!({})))
        .ask(of(
            "selectors",
            json!({
                "nodeSelector": {"beta.kubernetes.io/arch": "x"},
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                            old("beta.kubernetes.io/os"), old("app.kubernetes.io/created-by"),
                        ]},
                        "preferredDuringSchedulingIgnoredDuringExecution": [
                            {"weight": 1, "preference": old("node-role.kubernetes.io/master")},
                            {"weight": 1, "preference": {"matchExpressions": [expression("a", json!(["b c", "d"]))]}},
                        ],
                    },
                    "podAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "t"}],
                        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "t"}}],
                    },
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "t", "labelSelector": {}}, {"topologyKey": "t"}],
                    },
                },
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "failure-domain.beta.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"},
                ],
            }),
        ))
        .ask(pod(
            "annotations",
            json!({
                "scheduler.alpha.kubernetes.io/critical-pod": "", "security.alpha.kubernetes.io/sysctls": "",
                "seccomp.security.alpha.kubernetes.io/pod": "runtime/default",
                "container.seccomp.security.alpha.kubernetes.io/c": "unconfined",
            }),
            json!({}),
        ))
        .ask(
            pod("armor", json!({"container.apparmor.security.beta.kubernetes.io/c": "localhost/x"}), json!({}))
                .only(["/message", "/spec/containers/0/securityContext", "/metadata/managedFields"]),
        )
        .ask(
            pod(
                "armor-of-the-pod",
                json!({"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"}),
                json!({"securityContext": {"appArmorProfile": {"type": "RuntimeDefault"}}}),
            )
            .only(["/message", "/spec/containers/0/securityContext"]),
        )
        .ask(volumes(
            "volumes",
            json!([
                {"name": "a", "gitRepo": {"repository": "r"}},
                {"name": "b", "glusterfs": {"endpoints": "e", "path": "p"}},
                {"name": "d", "cephfs": {"monitors": ["m"]}},
                {"name": "e", "storageos": {"volumeName": "v"}},
                {"name": "f", "quobyte": {"registry": "a:1", "volume": "v"}},
                {"name": "g", "flocker": {"datasetName": "d"}},
                {"name": "h", "photonPersistentDisk": {"pdID": "p"}},
                {"name": "i", "ephemeral": {"volumeClaimTemplate": {"spec": {
                    "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}},
                }}}},
            ]),
        ))
        .ask(of(
            "overlaps",
            json!({"serviceAccountName": "a", "volumes": [
                {"name": "a", "configMap": {"name": "m", "items": files(&["a/b", "c", "a", "a/b", "ab", "a/b/c"])}},
                {"name": "b", "secret": {"secretName": "s", "items": files(&["x", "x/y"])}},
                {"name": "d", "downwardAPI": {"items": [
                    {"path": "p", "fieldRef": {"fieldPath": "metadata.name"}}, {"path": "p", "fieldRef": {"fieldPath": "metadata.uid"}},
                ]}},
                {"name": "e", "projected": {"sources": [
                    {"configMap": {"name": "m", "items": files(&["a"])}},
                    {"secret": {"name": "s", "items": files(&["a/b", "q"])}},
                    {"serviceAccountToken": {"path": "a"}},
                    {"downwardAPI": {"items": [{"path": "q/x", "fieldRef": {"fieldPath": "metadata.name"}}]}},
                ]}},
            ]}),
        ))
        .ask(of(
            "lists",
            json!({
                "hostAliases": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}, {"ip": "2001:DB8::1"}],
                "imagePullSecrets": [{"name": "a"}, {"name": "a"}],
                "dnsConfig": {"nameservers": ["2001:db8:0::1", "1.1.1.1"]},
                "dnsPolicy": "None",
            }),
        ))
        .ask(with(
            "variables",
            json!({"env": [
                variable("A", "1"), variable("A", "2"), variable("A", "$(A)3"), variable("A", "$(A)"),
                {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, variable("B", "$(A)"),
            ]}),
        ))
        .ask(with(
            "bytes",
            json!({"resources": {
                "limits": {"memory": "2", "ephemeral-storage": "2.5"}, "requests": {"memory": "1.0001", "ephemeral-storage": "1u", "cpu": "1m"},
            }}),
        ))
        .ask(of(
            "ports",
            json!({
                "initContainers": [{"name": "a", "image": "i", "restartPolicy": "Always", "ports": [{"containerPort": 80, "name": "http"}]}],
                "containers": [{"name": "b", "image": "i", "ports": [
                    {"containerPort": 80, "name": "http"}, {"containerPort": 80, "hostPort": 8080, "name": "x"},
                    {"containerPort": 80, "hostPort": 8080, "hostIP": "1.2.3.4"}, {"containerPort": 81, "hostIP": "1.2.3.4"},
                    {"containerPort": 80, "protocol": "UDP"}, {"containerPort": 82, "hostPort": 1}, {"containerPort": 82, "hostPort": 2},
                ]}],
            }),
        ))
}

fn templates() -> Case {
    let template = |image: &str| {
        json!({
            "metadata": {
                "labels": {"a": "b"}, "annotations": {"container.apparmor.security.beta.kubernetes.io/c": "unconfined"},
            },
            "spec": {
                "containers": [{"name": "c", "image": image}], "terminationGracePeriodSeconds": -1,
                "nodeSelector": {"beta.kubernetes.io/os": "x"},
            },
        })
    };
    let once = |image: &str| {
        let mut once = template(image);
        once["spec"]["restartPolicy"] = "Never".into();
        once
    };
    let selector = json!({"matchLabels": {"a": "b"}});
    let app = |image: &str| json!({"selector": selector, "template": template(image)});
    let claims = json!([{
        "metadata": {"name": "v"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}}},
    }]);
    let set = |image: &str| {
        let mut set = app(image);
        set["serviceName"] = "s".into();
        set["volumeClaimTemplates"] = claims.clone();
        set["revisionHistoryLimit"] = (-1).into();
        set
    };
    let cron = |schedule: &str| json!({"spec": {"schedule": schedule, "jobTemplate": {"spec": {"template": once("i")}}}});
    let change = |plural: &str, name: &str, patch: Value| {
        merge(&format!("{}/{name}", path(plural)), &patch)
            .named(format!("{plural} {name} {patch}"))
            .only(["/message"])
    };
    let labels = json!({"metadata": {"labels": {"c": "d"}}});
    let annotations = json!({"metadata": {"annotations": {"c": "d"}}});
    let replicas = json!({"spec": {"replicas": 2}});
    Case::new("advice-templates")
        .ask(new(&path("apps/deployments"), "d.x", json!({}), json!({"spec": app("i")})))
        .ask(change("apps/deployments", "d.x", labels.clone()))
        .ask(change("apps/deployments", "d.x", annotations))
        .ask(change("apps/deployments", "d.x", replicas))
        .ask(new(&path("apps/replicasets"), "r", json!({}), json!({"spec": app("i")})))
        .ask(new(&path("apps/daemonsets"), "s.x", json!({}), json!({"spec": app("i")})))
        .ask(change("apps/daemonsets", "s.x", json!({"spec": {"minReadySeconds": 1}})))
        .ask(change("apps/daemonsets", "s.x", json!({"spec": {"template": template("j")}})))
        .ask(new(&path("apps/statefulsets"), "t.x", json!({}), json!({"spec": set("i")})))
        .ask(new(&path("apps/statefulsets"), "t", json!({}), json!({"spec": set("i")})))
        .ask(change("apps/statefulsets", "t", labels))
        .ask(change("apps/statefulsets", "t", json!({"spec": {"replicas": 2}})))
        .ask(new(&path("podtemplates"), "p", json!({}), json!({"template": template("i")})))
        .ask(change("podtemplates", "p", json!({"template": template("j")})))
        .ask(new(
            &path("replicationcontrollers"),
            "c.x",
            json!({}),
            json!({"spec": {"selector": {"a": "b"}, "template": template("i")}}),
        ))
        .ask(change("replicationcontrollers", "c.x", json!({"spec": {"replicas": 2}})))
        .ask(new(
            &path("batch/jobs"),
            "j.x",
            json!({}),
            json!({"spec": {
                "template": once("i"), "completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001,
            }}),
        ))
        .ask(new(
            &path("batch/jobs"),
            "j",
            json!({}),
            json!({"spec": {
                "template": once("i"), "completionMode": "Indexed", "completions": 100_001, "parallelism": 10_001,
            }}),
        ))
        .ask(new(&path("batch/jobs"), "l.x", json!({}), json!({"spec": {"template": once("i")}})))
        .ask(change("batch/jobs", "j", json!({"spec": {"suspend": true}})))
        .ask(new(&path("batch/cronjobs"), "k.x", json!({}), cron("* * * * *")))
        .ask(change("batch/cronjobs", "k.x", json!({"spec": {"suspend": true}})))
}

fn others() -> Case {
    let service = |name: &str, spec: Value| {
        let mut spec = spec;
        if spec["ports"].is_null() {
            spec["ports"] = json!([{"port": 1}]);
        }
        new(
            &path("services"),
            name,
            json!({"service.kubernetes.io/topology-aware-hints": "x"}),
            json!({"spec": spec}),
        )
    };
    let volume = |name: &str, source: &str, given: Value| {
        let annotations = json!({"volume.beta.kubernetes.io/storage-class": "x", "volume.beta.kubernetes.io/mount-options": "y"});
        new(
            &cluster_path("persistentvolumes?dryRun=All"),
            name,
            annotations,
            json!({"spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
                source: given,
                "nodeAffinity": {"required": {"nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "beta.kubernetes.io/instance-type", "operator": "Exists"}]},
                ]}},
            }}),
        )
    };
    let blocks = |cidr: &str| json!([{"ipBlock": {"cidr": cidr}}]);
    let network = |name: &str, cidrs: &[&str]| {
        let rules: Vec<_> = cidrs.iter().map(|cidr| json!({"from": blocks(cidr)})).collect();
        new(
            &path("networking.k8s.io/networkpolicies"),
            name,
            json!({}),
            json!({"spec": {"podSelector": {}, "ingress": rules}}),
        )
    };
    let balanced = json!({"status": {"loadBalancer": {"ingress": [{"ip": "2001:DB8::1"}]}}});
    let status = |plural: &str, name: &str, status: &Value| {
        merge(&format!("{}/{name}/status", path(plural)), status)
            .named(format!("status of {plural} {name}"))
            .only(["/message"])
    };
    Case::new("advice-others")
        .ask(service("headless", json!({"clusterIP": "None", "sessionAffinity": "ClientIP", "externalIPs": ["1.2.3.4"]})))
        .ask(service("alias", json!({"type": "ExternalName", "externalName": "x", "externalIPs": ["1.2.3.4"]})))
        .ask(service("close", json!({"trafficDistribution": "PreferClose", "externalName": "x"})))
        .ask(merge(&format!("{}/close", path("services")), &json!({})).named("nothing").only(["/message"]))
        .ask(service("balanced", json!({"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8", "2001:DB8::/32"]})))
        .ask(service("no-range", json!({"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.1/8"]})))
        .ask(status("services", "balanced", &balanced))
        .ask(new(
            &path("networking.k8s.io/ingresses"),
            "ingress",
            json!({"kubernetes.io/ingress.class": "x"}),
            json!({"spec": {"defaultBackend": {"service": {"name": "x", "port": {"number": 1}}}}}),
        ))
        .ask(network("ranges", &["10.0.0.0/8", "2001:db8:0::/32"]))
        .ask(network("no-ranges", &["10.1.0.0/8", "2001:db8::1/32", "10.0.0.0/08", "010.0.0.0/8", "::ffff:10.0.0.0/104", "0.0.0.0/0"]))
        .ask(new(&path("persistentvolumeclaims"), "claim", json!({"volume.beta.kubernetes.io/storage-class": "x"}), json!({"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1500m"}, "limits": {"storage": "2500m"}},
        }})))
        .ask(volume("rbd.{ns}", "rbd", json!({"monitors": ["m"], "image": "i"})))
        .ask(volume("gluster.{ns}", "glusterfs", json!({"endpoints": "e", "path": "p"})))
        .ask(volume("storageos.{ns}", "storageos", json!({"volumeName": "v"})))
        .ask(volume("ceph.{ns}", "cephfs", json!({"monitors": ["m"]})))
        .ask(new(&cluster_path("storage.k8s.io/storageclasses?dryRun=All"), "{ns}-storage", json!({}), json!({
            "provisioner": "p", "allowedTopologies": [{"matchLabelExpressions": [
                {"key": "a", "values": ["b"]}, {"key": "failure-domain.beta.kubernetes.io/region", "values": ["b"]},
            ]}],
        })))
        .ask(new(&path("storage.k8s.io/csistoragecapacities"), "capacity", json!({}), json!({
            "storageClassName": "s", "nodeTopology": {
                "matchLabels": {"beta.kubernetes.io/os": "x"}, "matchExpressions": [{"key": "beta.kubernetes.io/arch", "operator": "Exists"}],
            },
        })))
        .ask(new(&cluster_path("storage.k8s.io/csidrivers"), "{ns}", json!({}), json!({"spec": {"tokenRequests": [{"audience": "a"}]}})))
        .ask(merge(&format!("{}/{{ns}}", cluster_path("storage.k8s.io/csidrivers")), &json!({"spec": {"requiresRepublish": true}})).named("driver, something else").only(["/message"]))
        .ask(merge(&format!("{}/{{ns}}", cluster_path("storage.k8s.io/csidrivers")), &json!({"spec": {"tokenRequests": [{"audience": "b"}]}})).named("driver, tokens").only(["/message"]))
        .ask(new(&cluster_path("node.k8s.io/runtimeclasses?dryRun=All"), "{ns}-class", json!({}), json!({
            "handler": "h", "scheduling": {"nodeSelector": {"beta.kubernetes.io/os": "x"}},
        })))
        .ask(new(&cluster_path("nodes?dryRun=All"), "{ns}-node", json!({}), json!({"spec": {
            "externalID": "x", "podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24", "2001:DB8::/64"],
        }})))
        .ask(new(&path("resourcequotas"), "quota", json!({}), json!({"spec": {"hard": {
            "cpu": "2", "limits.cpu": "1", "requests.memory": "1Gi", "limits.memory": "1000Mi",
            "requests.ephemeral-storage": "1", "limits.ephemeral-storage": "1", "requests.storage": "3",
        }}})))
        .ask(new(&path("serviceaccounts"), "account", json!({"kubernetes.io/enforce-mountable-secrets": "true"}), json!({})))
        .ask(merge(&format!("{}/account", path("serviceaccounts")), &json!({"metadata": {"labels": {"a": "b"}}})).named("account, a label").only(["/message"]))
        .ask(new(&path("secrets"), "no-certificate", json!({}), json!({"type": "kubernetes.io/tls", "stringData": {"tls.crt": "x", "tls.key": "y"}})))
        .ask(new(&path("endpoints"), "points", json!({}), json!({"subsets": [
            {"addresses": [{"ip": "2001:DB8::1"}], "notReadyAddresses": [{"ip": "2001:db8:0::2"}], "ports": [{"port": 1}]},
        ]})))
        .ask(new(&path("discovery.k8s.io/endpointslices"), "slice", json!({}), json!({
            "addressType": "IPv6", "endpoints": [{"addresses": ["2001:DB8::1"]}], "ports": [],
        })))
        .ask(new(&path("discovery.k8s.io/endpointslices"), "names", json!({}), json!({
            "addressType": "FQDN", "endpoints": [{"addresses": ["a.example.com"]}], "ports": [],
        })))
        .ask(
            put(&format!("{}/names", path("discovery.k8s.io/endpointslices")), &json!({
                "metadata": {"name": "names"}, "addressType": "FQDN", "endpoints": [], "ports": [],
            }))
            .named("names again")
            .only(["/message"]),
        )
        .ask(new(&path("pods"), "running", json!({}), json!({"spec": {"containers": [{"name": "c", "image": "i"}]}})))
        .ask(status("pods", "running", &json!({"status": {
            "podIP": "2001:DB8::1", "podIPs": [{"ip": "2001:DB8::1"}], "hostIP": "2001:DB8::2", "hostIPs": [{"ip": "2001:DB8::2"}],
        }})))
        .ask(new(
            &cluster_path("admissionregistration.k8s.io/validatingadmissionpolicies?dryRun=All"),
            "{ns}.static.k8s.io",
            json!({}),
            json!({"spec": {"validations": [{"expression": "true"}], "matchConstraints": {"resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]},
            ]}}}),
        ))
}

/// Where warnings come, and what is said of what was there before.
fn orders() -> Case {
    let template = |old: bool| {
        let selector = if old {
            json!({"beta.kubernetes.io/os": "x"})
        } else {
            json!({})
        };
        json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}], "nodeSelector": selector}})
    };
    let change = |plural: &str, name: &str, patch: Value| {
        merge(&format!("{}/{name}", path(plural)), &patch)
            .named(format!("{plural} {name} {patch}"))
            .only(["/message"])
    };
    let app = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template(true)});
    let controller = |old: bool| json!({"spec": {"template": {"spec": {"nodeSelector": {"beta.kubernetes.io/os": if old { json!("x") } else { Value::Null }}}}}});
    let point = |ip: &str| json!({"status": {"loadBalancer": {"ingress": [{"ip": ip}]}}});
    let ingress = json!({"spec": {"defaultBackend": {"service": {"name": "x", "port": {"number": 1}}}}});
    let annotated = |name: &str, annotations: Value, spec: Value| {
        let mut spec = spec;
        spec["containers"] = json!([{"name": "c", "image": "i"}]);
        new(&path("pods?dryRun=All"), name, annotations, json!({"spec": spec}))
            .only(["/message", "/spec/containers/0/securityContext"])
    };
    let armor = |container: &str, profile: &str| json!({format!("container.apparmor.security.beta.kubernetes.io/{container}"): profile});
    let odd = |text: &str| {
        let policy = json!({"spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": {"cidr": "0.0.0.0/0", "except": [text]}}]}]}});
        new(
            &path("networking.k8s.io/networkpolicies?dryRun=All"),
            &format!("except {text}").replace(['/', ' ', ':'], "-"),
            json!({}),
            policy,
        )
    };
    let balanced = |name: &str, address: &str| {
        let spec =
            json!({"type": "LoadBalancer", "ports": [{"port": 1}], "loadBalancerSourceRanges": [address]});
        new(
            &path("services?dryRun=All"),
            name,
            json!({}),
            json!({"spec": spec}),
        )
    };
    let case = Case::new("advice-orders")
        .ask(new(&path("apps/deployments"), "d", json!({}), json!({"spec": app})))
        .ask(change("apps/deployments", "d/scale", json!({"spec": {"replicas": 3}})))
        .ask(new(&path("replicationcontrollers"), "r", json!({}), json!({"spec": {"selector": {"a": "b"}, "template": template(false)}})))
        .ask(change("replicationcontrollers", "r", controller(true)))
        .ask(change("replicationcontrollers", "r", controller(false)))
        .ask(new(&path("networking.k8s.io/ingresses"), "i", json!({}), ingress))
        .ask(change("networking.k8s.io/ingresses", "i/status", point("2001:DB8::1")))
        .ask(change("networking.k8s.io/ingresses", "i", json!({"metadata": {"labels": {"a": "b"}}})))
        .ask(annotated("armor-on-windows", armor("c", "runtime/default"), json!({"os": {"name": "windows"}})))
        .ask(annotated("armor-of-nobody", armor("d", "runtime/default"), json!({})))
        .ask(annotated("armor-of-none", armor("c", "bad"), json!({})))
        .ask(annotated("seccomp-of-none", json!({"container.seccomp.security.alpha.kubernetes.io/c": "x\"y"}), json!({})))
        .ask(annotated("control", json!({}), json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["a\tb"]}]}},
        ]}}})))
        .ask(annotated("huge", json!({}), json!({"overhead": {"memory": "1e30"}})).only(["/message", "/spec/overhead"]))
        .ask(new(&path("pods"), "armored", json!({}), json!({"spec": {"containers": [{"name": "c", "image": "i"}]}})))
        .ask(change("pods", "armored", json!({"metadata": {"annotations": armor("c", "unconfined")}})))
        .ask(odd("::ffff:1.2.3.0/120"))
        .ask(odd("00001::1/64"))
        .ask(balanced("padded", " 1.0.0.0/8 "))
        .ask(balanced("zeros", "00001::/64"));
    let long = "x".repeat(300);
    let alias = |n: usize| json!({"name": format!("A{}", n / 2), "value": long.as_str()});
    let env: Vec<_> = (0..200).map(alias).collect();
    let secret = |name: &str, certificate: &str, key: &str| {
        let data = json!({"tls.crt": certificate, "tls.key": key});
        new(
            &path("secrets?dryRun=All"),
            name,
            json!({}),
            json!({"type": "kubernetes.io/tls", "stringData": data}),
        )
    };
    let block = |kind: &str| format!("-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n");
    let (certificate, key) = (block("CERTIFICATE"), block("EC PRIVATE KEY"));
    case.ask(new(
        &path("pods?dryRun=All"),
        "many",
        json!({}),
        json!({"spec": {"containers": [{"name": "c", "image": "i", "env": env}]}}),
    ))
    .ask(secret("half", "-----BEGIN ", "-----BEGIN "))
    .ask(secret("other", &block("FOO"), &key))
    .ask(secret("switched", &key, &certificate))
    .ask(secret("twice", &certificate, &certificate))
    .ask(secret("malformed", &certificate, &key))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![pods(), templates(), others(), orders()]
}
