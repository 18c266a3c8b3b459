//! Services, and what leads to them.

use serde_json::{Value, json};

use super::{Kind, with};
use crate::case::Case;

pub(super) fn services() -> Vec<Case> {
    let service = || {
        Kind::new(
            "service",
            "/api/v1/namespaces/{ns}/services",
            json!({"selector": {"a": "b"}, "ports": [{"port": 80}]}),
        )
    };
    let port = |more: Value| json!({"ports": [with(json!({"port": 80}), more)]});
    let ranges = |ranges: &str, spec: Value| {
        let annotations = json!({"service.beta.kubernetes.io/load-balancer-source-ranges": ranges});
        json!({"metadata": {"annotations": annotations}, "spec": spec})
    };
    vec![
        service().specs([
            ("no ports", json!({"ports": []})),
            ("no ports of what is headless", json!({"ports": [], "clusterIP": "None"})),
            ("a port", port(json!({"port": 0}))),
            ("a large port", port(json!({"port": 70000}))),
            ("a protocol", port(json!({"protocol": "X"}))),
            ("a port's name", port(json!({"name": "A_"}))),
            ("a target", port(json!({"targetPort": 70000}))),
            ("a target's name", port(json!({"targetPort": "A_"}))),
            ("a long target's name", port(json!({"targetPort": "a-very-long-name-of-a-port"}))),
            ("ports without names", json!({"ports": [{"port": 80}, {"port": 81}]})),
            ("a name twice", json!({"ports": [{"port": 80, "name": "a"}, {"port": 81, "name": "a"}]})),
            ("a port twice", json!({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b"}]})),
            ("a port of two protocols", json!({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b", "protocol": "UDP"}]})),
            ("a node port of an address", port(json!({"nodePort": 30100}))),
            ("a node port out of range", with(port(json!({"nodePort": 5})), json!({"type": "NodePort"}))),
            ("a type", json!({"type": "X"})),
            ("an affinity", json!({"sessionAffinity": "X"})),
            ("an affinity's time", json!({"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}}})),
            ("a time without an affinity", json!({"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 5}}})),
            ("an address", json!({"clusterIP": "x"})),
            ("a selector", json!({"selector": {"a b": "c"}})),
            ("a selector's value", json!({"selector": {"a": "b c"}})),
            ("an external name", json!({"type": "ExternalName"})),
            ("an external name that is none", json!({"type": "ExternalName", "externalName": "A_"})),
            ("an external name with an address", json!({"type": "ExternalName", "externalName": "a.example", "clusterIP": "10.96.0.77"})),
            ("an external address", json!({"externalIPs": ["x"]})),
            ("an external address that loops", json!({"externalIPs": ["127.0.0.1"]})),
            ("a source range", json!({"type": "LoadBalancer", "loadBalancerSourceRanges": ["x"]})),
            ("a source range of another type", json!({"loadBalancerSourceRanges": ["10.0.0.0/8"]})),
            ("an external policy", json!({"externalTrafficPolicy": "Local"})),
            ("an external policy that is none", json!({"type": "NodePort", "externalTrafficPolicy": "X"})),
            ("an internal policy", json!({"internalTrafficPolicy": "X"})),
            ("a headless node port", json!({"type": "NodePort", "clusterIP": "None"})),
            ("a class", json!({"loadBalancerClass": "a"})),
            ("a class and node ports", json!({"loadBalancerClass": "a", "allocateLoadBalancerNodePorts": true})),
            ("a class of a balancer", json!({"type": "LoadBalancer", "loadBalancerClass": "a b"})),
            ("a port twice and more", json!({"ports": [{"port": 80, "name": "a"}, {"port": 80, "name": "b", "nodePort": 30100}], "sessionAffinity": "X<", "externalIPs": ["x"], "loadBalancerSourceRanges": ["x"]})),
            ("a node port twice", json!({"type": "NodePort", "ports": [{"port": 80, "name": "a", "nodePort": 30177}, {"port": 81, "name": "b", "nodePort": 30177}, {"port": 81, "name": "c"}]})),
            ("a port and its node port twice", json!({"type": "NodePort", "ports": [{"port": 80, "name": "a", "nodePort": 30178}, {"port": 80, "name": "b", "nodePort": 30178}]})),
            ("a node port of two protocols", json!({"type": "NodePort", "ports": [{"port": 80, "name": "a", "nodePort": 30179}, {"port": 80, "name": "b", "nodePort": 30179, "protocol": "UDP"}]})),
            ("a node port of a name twice", json!({"type": "ExternalName", "externalName": "a.example", "ports": [{"port": 80, "name": "a", "nodePort": 30101}, {"port": 81, "name": "b", "nodePort": 30101}]})),
            ("a node port of a name", json!({"type": "ExternalName", "externalName": "a.example", "ports": [{"port": 80, "nodePort": 30101}]})),
            ("a type, quoted", json!({"type": "<X>", "internalTrafficPolicy": "<X>"})),
            ("a family's policy, quoted", json!({"ipFamilyPolicy": "<X>"})),
            ("an external policy, quoted", json!({"externalTrafficPolicy": "<X>"})),
            ("an application's protocol", port(json!({"appProtocol": "a b"}))),
            ("a family", json!({"ipFamilies": ["X"]})),
            ("a family's policy", json!({"ipFamilyPolicy": "X"})),
            ("a health check's port", json!({"healthCheckNodePort": 30101})),
        ]),
        Kind { name: "service-annotations", ..service() }.objects([
            ("ranges", ranges("x, 10.0.0.0/8,,10.0.0.1/8, 010.0.0.0/8,::ffff:10.0.0.0/104", json!({"type": "LoadBalancer"}))),
            ("two topologies", json!({"metadata": {"annotations": {"service.kubernetes.io/topology-mode": "a<", "service.kubernetes.io/topology-aware-hints": "b"}}, "spec": {"ports": []}})),
            ("a topology twice", json!({"metadata": {"annotations": {"service.kubernetes.io/topology-mode": "a", "service.kubernetes.io/topology-aware-hints": "a"}}})),
            ("a distribution", json!({"spec": {"trafficDistribution": "X<"}})),
            ("no ranges", ranges(" ", json!({"type": "LoadBalancer"}))),
            ("ranges of another type", ranges("x", json!({"externalIPs": ["x"], "externalTrafficPolicy": "Local"}))),
            ("no ranges of another type", ranges("", json!({}))),
            ("ranges in the field, too", ranges("x", json!({"type": "LoadBalancer", "loadBalancerSourceRanges": ["y"]}))),
        ]),
        kept_ranges(),
        // The ranges of the two servers differ.
        Kind { name: "service-address", ..service() }.specs([("an address out of range", json!({"clusterIP": "1.2.3.4"}))]).reasons(),
        service().changes([
            ("no ports", json!({"spec": {"ports": []}})),
            ("a type", json!({"spec": {"type": "X"}})),
            ("a headless service", json!({"spec": {"clusterIP": "None", "clusterIPs": ["None"]}})),
            ("a node port", json!({"spec": {"type": "NodePort"}})),
            ("an external name", json!({"spec": {"type": "ExternalName", "externalName": "a.example"}})),
        ]),
    ]
}

/// Ranges in an annotation that a field hides, and what changes then.
fn kept_ranges() -> Case {
    const RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
    let service = Kind {
        name: "service-ranges",
        path: "/api/v1/namespaces/{ns}/services",
        right: json!({
            "metadata": {"name": "x", "annotations": {RANGES: "x, 010.0.0.0/8"}},
            "spec": {"type": "LoadBalancer", "ports": [{"port": 80}], "loadBalancerSourceRanges": ["10.0.0.0/8"]},
        }),
    };
    let annotated = |ranges: &str| json!({"metadata": {"annotations": {RANGES: ranges}}});
    let no_field = json!({"spec": {"loadBalancerSourceRanges": null}});
    service.changes([
        ("no field", no_field.clone()),
        ("another annotation", annotated("y")),
        (
            "another annotation and no field",
            with_both(annotated("x"), &no_field),
        ),
        (
            "an odd annotation and no field",
            with_both(annotated("010.0.0.0/8"), &no_field),
        ),
        (
            "another type",
            json!({"spec": {"type": "ClusterIP", "loadBalancerSourceRanges": null}}),
        ),
        (
            "another range",
            json!({"spec": {"loadBalancerSourceRanges": ["y"]}}),
        ),
    ])
}

/// Two merge patches in one.
fn with_both(mut one: Value, other: &Value) -> Value {
    one["spec"] = other["spec"].clone();
    one
}

pub(super) fn networks() -> Vec<Case> {
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    // Of 255 and 252 characters.
    let (long, longest) = (["a"; 128].join("."), ["a"; 126].join(".") + "b");
    let ingress = Kind::new(
        "ingress",
        "/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses",
        json!({"defaultBackend": backend}),
    );
    let rule = |more: Value| {
        let path = with(
            json!({"path": "/", "pathType": "Prefix", "backend": backend}),
            more,
        );
        json!({"rules": [{"http": {"paths": [path]}}]})
    };
    let policy = Kind::new(
        "networkpolicy",
        "/apis/networking.k8s.io/v1/namespaces/{ns}/networkpolicies",
        json!({"podSelector": {}}),
    );
    let classes = |annotated: &str, class: &str| {
        let annotations = json!({"kubernetes.io/ingress.class": annotated});
        json!({"metadata": {"annotations": annotations}, "spec": {"ingressClassName": class}})
    };
    let peer = |peer: Value| json!({"ingress": [{"from": [peer]}]});
    let slice = Kind::whole(
        "endpointslice",
        "/apis/discovery.k8s.io/v1/namespaces/{ns}/endpointslices",
        json!({"addressType": "IPv4", "endpoints": [{"addresses": ["1.2.3.4"]}], "ports": [{"port": 80}]}),
    );
    let endpoint = |more: Value| json!({"endpoints": [with(json!({"addresses": ["1.2.3.4"]}), more)]});
    let endpoints = Kind::whole(
        "endpoints",
        "/api/v1/namespaces/{ns}/endpoints",
        json!({"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 80}]}]}),
    );
    let class = Kind::new(
        "ingressclass",
        "/apis/networking.k8s.io/v1/ingressclasses",
        json!({"controller": "a.example/x"}),
    );
    vec![
        Kind { name: "ingress-classes", path: ingress.path, right: ingress.right.clone() }.objects([
            ("two classes", classes("a", "b")),
            ("two classes and a host", with(classes("a", "b"), json!({"spec": {"rules": [{"host": "A_"}]}}))),
            ("a class twice", classes("a", "a")),
            ("a class beside none", classes("", "b")),
            ("no class", classes("", "")),
            ("no class beside one", classes("a", "")),
        ]),
        ingress.specs([
            ("neither rule nor backend", json!({"defaultBackend": null})),
            (
                "a backend of nothing",
                json!({"defaultBackend": {"service": null}}),
            ),
            (
                "a backend without a name",
                json!({"defaultBackend": {"service": {"name": ""}}}),
            ),
            (
                "a backend's name",
                json!({"defaultBackend": {"service": {"name": "A_"}}}),
            ),
            (
                "a backend without a port",
                json!({"defaultBackend": {"service": {"port": null}}}),
            ),
            (
                "a backend with two ports",
                json!({"defaultBackend": {"service": {"port": {"name": "a"}}}}),
            ),
            (
                "a backend's port",
                json!({"defaultBackend": {"service": {"port": {"number": 70000}}}}),
            ),
            (
                "a backend's port's name",
                json!({"defaultBackend": {"service": {"port": {"number": null, "name": "A_"}}}}),
            ),
            (
                "two backends",
                json!({"defaultBackend": {"resource": {"kind": "X", "name": "x"}}}),
            ),
            ("no type of a path", rule(json!({"pathType": null}))),
            ("a type of a path", rule(json!({"pathType": "X"}))),
            ("no type of a path to nothing", rule(json!({"pathType": null, "backend": {"service": null}}))),
            ("an empty type of a path", rule(json!({"pathType": ""}))),
            (
                "a backend of another kind",
                json!({"defaultBackend": {"service": null, "resource": {"apiGroup": "A_", "kind": "a/b", "name": "c%d"}}}),
            ),
            ("a relative path", rule(json!({"path": "x"}))),
            ("no path", rule(json!({"path": null}))),
            ("a path with two slashes", rule(json!({"path": "/a//b"}))),
            (
                "a rule without a backend",
                rule(json!({"backend": {"service": null}})),
            ),
            ("no paths", json!({"rules": [{"http": {"paths": []}}]})),
            ("a long host", json!({"rules": [{"host": long}, {"host": format!("*.{long}")}]})),
            (
                "hosts of certificates",
                json!({"tls": [{"hosts": ["A_", "*", "*.a", "a.*", long, format!("*.{long}"), format!("*.{longest}")], "secretName": "B_"}]}),
            ),
            (
                "certificates, rules and a backend",
                json!({"tls": [{"hosts": ["A_"]}], "rules": [{"host": "B_"}], "defaultBackend": {"service": {"name": "C_"}}, "ingressClassName": "D_"}),
            ),
            ("a host", json!({"rules": [{"host": "A_"}]})),
            ("an address as a host", json!({"rules": [{"host": "1.2.3.4"}]})),
            (
                "all hosts of a domain",
                json!({"rules": [{"host": "*.a.example"}]}),
            ),
            (
                "all hosts in the middle",
                json!({"rules": [{"host": "a.*.example"}]}),
            ),
            (
                "a certificate's host",
                json!({"tls": [{"hosts": ["A_"], "secretName": "A_"}]}),
            ),
            ("a class", json!({"ingressClassName": "A_"})),
            ("a class, quoted", json!({"ingressClassName": "<\u{1}>"})),
            ("a type of a path, quoted", rule(json!({"pathType": "<X>"}))),
        ]),
        policy.specs([
            ("a type", json!({"policyTypes": ["X"]})),
            (
                "three types",
                json!({"policyTypes": ["Ingress", "Egress", "Ingress"]}),
            ),
            (
                "a selector",
                json!({"podSelector": {"matchLabels": {"a b": "c"}}}),
            ),
            (
                "a selector's operator",
                json!({"podSelector": {"matchExpressions": [{"key": "a", "operator": "X"}]}}),
            ),
            ("a peer of nothing", peer(json!({}))),
            (
                "a block and a selector",
                peer(json!({"ipBlock": {"cidr": "10.0.0.0/8"}, "podSelector": {}})),
            ),
            ("a block", peer(json!({"ipBlock": {"cidr": "x"}}))),
            ("a block with a sign", peer(json!({"ipBlock": {"cidr": "10.0.0.0/+8"}}))),
            ("no block", peer(json!({"ipBlock": {"cidr": ""}}))),
            (
                "an exception",
                peer(json!({"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/8", "x"]}})),
            ),
            ("a port", json!({"ingress": [{"ports": [{"port": 70000}]}]})),
            ("a port's name", json!({"ingress": [{"ports": [{"port": "A_"}]}]})),
            (
                "a protocol",
                json!({"egress": [{"ports": [{"port": 80, "protocol": "X"}]}]}),
            ),
            (
                "a last port",
                json!({"ingress": [{"ports": [{"port": 80, "endPort": 70}]}]}),
            ),
            (
                "a last port without a first",
                json!({"ingress": [{"ports": [{"endPort": 70}]}]}),
            ),
            (
                "a last port of a name",
                json!({"ingress": [{"ports": [{"port": "a", "endPort": 70}]}]}),
            ),
        ]),
        slice.objects([
            ("no type", json!({"addressType": null})),
            ("a type", json!({"addressType": "X"})),
            ("no addresses", json!({"endpoints": [{"addresses": []}]})),
            ("an address", json!({"endpoints": [{"addresses": ["x"]}]})),
            (
                "an address of another type",
                json!({"endpoints": [{"addresses": ["::1"]}]}),
            ),
            (
                "an address that loops",
                json!({"endpoints": [{"addresses": ["127.0.0.1"]}]}),
            ),
            ("addresses of version 6", json!({"addressType": "IPv6", "endpoints": [
                {"addresses": ["FD00:0::1", "fd00::1", "::ffff:1.2.3.4", "1.2.3.4", "x", "fd00:0:0:0:0:0:0:1", ""]}]})),
            ("addresses of version 4", json!({"endpoints": [{"addresses": ["010.0.0.1", "::ffff:1.2.3.4", "1.2.3.4", ""]}]})),
            ("names of hosts", json!({"addressType": "FQDN", "endpoints": [
                {"addresses": ["example.com.", "example.com", "localhost", "A_.com", "", "a..b", "1.2.3.4"]}, {"addresses": [format!("{}.{}", "a".repeat(64), "b".repeat(64))]}]})),
            ("a port's name", json!({"ports": [{"name": "A_", "port": 80}]})),
            (
                "a port's name twice",
                json!({"ports": [{"name": "a", "port": 80}, {"name": "a", "port": 81}]}),
            ),
            ("a protocol", json!({"ports": [{"port": 80, "protocol": "X"}]})),
            (
                "an application's protocol",
                json!({"ports": [{"port": 80, "appProtocol": "a b"}]}),
            ),
            ("a port out of range", json!({"ports": [{"port": 70000}]})),
            (
                "a node and a host",
                endpoint(json!({"nodeName": "A_", "hostname": "a.b", "zone": "a b"})),
            ),
            ("empty names", endpoint(json!({"nodeName": "", "hostname": ""}))),
            ("topology, which is dropped", endpoint(json!({"deprecatedTopology": {"a b": "c d"}}))),
            (
                "hints",
                endpoint(json!({"hints": {"forZones": [{"name": "a b"}, {"name": "a"}, {"name": "a"}], "forNodes": [{"name": "A_"}, {"name": "a"}, {"name": "a"}]}})),
            ),
            (
                "many hints",
                endpoint(json!({"hints": {"forNodes": (0..9).map(|n| json!({"name": format!("a{n}")})).collect::<Vec<_>>()}})),
            ),
            (
                "many endpoints",
                json!({"endpoints": vec![json!({"addresses": ["x"]}); 1001], "ports": [{"port": 80, "protocol": "X"}]}),
            ),
        ]),
        endpoints.objects([
            ("no addresses", json!({"subsets": [{"ports": [{"port": 80}]}]})),
            ("an address", json!({"subsets": [{"addresses": [{"ip": "x"}]}]})),
            (
                "a port",
                json!({"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 0}]}]}),
            ),
            (
                "ports without names",
                json!({"subsets": [{"addresses": [{"ip": "1.2.3.4"}], "ports": [{"port": 1}, {"port": 2}]}]}),
            ),
        ]),
        class.specs([
            ("no controller", json!({"controller": ""})),
            ("a controller", json!({"controller": "x"})),
            ("a controller's domain and path", json!({"controller": "A_/b c"})),
            ("a controller without a path", json!({"controller": "a.example/"})),
            ("a controller without a domain", json!({"controller": "/a"})),
            (
                "a long controller",
                json!({"controller": format!("a.example/{}", "a".repeat(250))}),
            ),
            ("parameters", json!({"parameters": {"kind": "K", "name": "n"}})),
            (
                "parameters of an empty scope",
                json!({"parameters": {"kind": "K", "name": "n", "scope": ""}}),
            ),
            (
                "parameters of nothing",
                json!({"parameters": {"kind": "", "name": "", "scope": "X"}}),
            ),
            (
                "parameters of bad names",
                json!({"parameters": {"apiGroup": "A_", "kind": "a/b", "name": "..", "scope": "Namespace"}}),
            ),
            (
                "parameters of a namespace",
                json!({"parameters": {"kind": "K", "name": "n", "scope": "Namespace", "namespace": "A_"}}),
            ),
            (
                "parameters of the cluster",
                json!({"parameters": {"kind": "K", "name": "n", "scope": "Cluster", "namespace": "a"}}),
            ),
        ]),
    ]
}
