//! What an object uses: of what pods ask for, and of what quotas count.

use serde_json::{Map, Value};

use crate::meta::Object;
use crate::quantity::{Amount, Amounts};
use crate::resources::Resource;

const BY_CLASS: &str = ".storageclass.storage.k8s.io/";

/// What the containers of a pod ask for, together: `requests` or `limits`.
pub(super) fn of_pod(pod: &Object, member: &str) -> Amounts {
    let spec = pod.get("spec").unwrap_or(&Value::Null);
    let mut sum = Amounts::new();
    for container in list(&spec["containers"]) {
        add(&mut sum, &of_container(container, member));
    }
    // What runs beside the containers counts with them, and with each init container after it.
    let (mut beside, mut most) = (Amounts::new(), Amounts::new());
    for container in list(&spec["initContainers"]) {
        let mut own = of_container(container, member);
        if container["restartPolicy"] == "Always" {
            add(&mut sum, &own);
            add(&mut beside, &own);
            own = beside.clone();
        } else {
            add(&mut own, &beside);
        }
        raise(&mut most, own);
    }
    raise(&mut sum, most);
    for (name, amount) in Amount::read_all(&spec["resources"][member]) {
        if matches!(name.as_str(), "cpu" | "memory") {
            sum.insert(name, amount);
        }
    }
    sum
}

/// What a pod requests, with what running it costs.
pub(crate) fn requests(pod: &Object) -> Amounts {
    of_pod_and_overhead(pod, "requests")
}

/// The same with what running the pod costs.
fn of_pod_and_overhead(pod: &Object, member: &str) -> Amounts {
    let mut sum = of_pod(pod, member);
    let overhead = pod.get("spec").map(|spec| Amount::read_all(&spec["overhead"]));
    for (name, amount) in overhead.into_iter().flatten() {
        match sum.get_mut(&name) {
            Some(there) => there.add(&amount),
            None if member == "requests" => {
                sum.insert(name, amount);
            }
            None => {}
        }
    }
    sum
}

pub(super) fn of_container(container: &Value, member: &str) -> Amounts {
    Amount::read_all(&container["resources"][member])
}

pub(super) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn add(sum: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        match sum.get_mut(name) {
            Some(there) => there.add(amount),
            None => {
                sum.insert(name.clone(), amount.clone());
            }
        }
    }
}

fn raise(most: &mut Amounts, other: Amounts) {
    for (name, amount) in other {
        if most
            .get(&name)
            .is_none_or(|there| amount.quantity() > there.quantity())
        {
            most.insert(name, amount);
        }
    }
}

/// The name under which objects of the resource are counted.
fn counter(resource: &Resource) -> String {
    match resource.group.as_ref() {
        "" => format!("count/{}", resource.plural),
        group => format!("count/{}.{group}", resource.plural),
    }
}

/// Whether an object of the resource uses something of this name.
pub(super) fn concerns(resource: &Resource, name: &str) -> bool {
    if name == counter(resource) {
        return true;
    }
    match resource.id().as_str() {
        "pods" => match name.strip_prefix("requests.") {
            Some("cpu" | "memory" | "ephemeral-storage") => true,
            Some(rest) => rest.starts_with("hugepages-") || is_extended(rest),
            None => {
                let own = matches!(name, "pods" | "cpu" | "memory" | "ephemeral-storage");
                let limits = matches!(name, "limits.cpu" | "limits.memory" | "limits.ephemeral-storage");
                own || limits || name.starts_with("hugepages-")
            }
        },
        "services" => matches!(name, "services" | "services.nodeports" | "services.loadbalancers"),
        "persistentvolumeclaims" => {
            let of_class = name.rsplit_once(BY_CLASS).map_or(name, |(_, name)| name);
            matches!(of_class, "persistentvolumeclaims" | "requests.storage")
        }
        // Those that were counted before there were counters.
        "configmaps" | "secrets" | "resourcequotas" | "replicationcontrollers" => {
            name == resource.plural.as_ref() as &str
        }
        _ => false,
    }
}

/// Resources that are not Kubernetes' own have a domain.
fn is_extended(name: &str) -> bool {
    name.starts_with("deviceclass.resource.kubernetes.io/")
        || name.contains('/') && !name.contains("kubernetes.io/")
}

/// What an object uses.
pub(super) fn of(resource: &Resource, object: &Object) -> Amounts {
    let mut used = Amounts::from([(counter(resource), Amount::of(1))]);
    match resource.id().as_str() {
        "pods" if !has_ended(object) => {
            let [requests, limits] = ["requests", "limits"].map(|member| of_pod_and_overhead(object, member));
            used.extend(of_computing(&requests, &limits));
        }
        "services" => used.extend(of_service(object)),
        "persistentvolumeclaims" => used.extend(of_claim(object)),
        "configmaps" | "secrets" | "resourcequotas" | "replicationcontrollers" => {
            used.insert(resource.plural.to_string(), Amount::of(1));
        }
        _ => {}
    }
    used
}

fn has_ended(pod: &Object) -> bool {
    let phase = pod.get("status").map(|status| &status["phase"]);
    phase.is_some_and(|phase| phase == "Failed" || phase == "Succeeded")
}

/// What a pod, or a container, uses by what it asks for.
pub(super) fn of_computing(requests: &Amounts, limits: &Amounts) -> Amounts {
    let mut used = Amounts::from([("pods".to_owned(), Amount::of(1))]);
    for (name, amount) in requests {
        let own = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage");
        if own || name.starts_with("hugepages-") {
            used.insert(name.clone(), amount.clone());
        }
        if own || name.starts_with("hugepages-") || is_extended(name) {
            used.insert(format!("requests.{name}"), amount.clone());
        }
    }
    for (name, amount) in limits {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            used.insert(format!("limits.{name}"), amount.clone());
        }
    }
    used
}

fn of_service(service: &Object) -> Amounts {
    let spec = service.get("spec").unwrap_or(&Value::Null);
    let balanced = spec["type"] == "LoadBalancer";
    let ports = match spec["type"].as_str() {
        Some("LoadBalancer") if spec["allocateLoadBalancerNodePorts"] == false => list(&spec["ports"])
            .filter(|port| port["nodePort"].as_i64().is_some_and(|port| port != 0))
            .count(),
        Some("LoadBalancer" | "NodePort") => list(&spec["ports"]).count(),
        _ => 0,
    };
    Amounts::from([
        ("services".to_owned(), Amount::of(1)),
        ("services.loadbalancers".to_owned(), Amount::of(balanced.into())),
        ("services.nodeports".to_owned(), Amount::of(ports)),
    ])
}

fn of_claim(claim: &Object) -> Amounts {
    let mut used = Amounts::from([("persistentvolumeclaims".to_owned(), Amount::of(1))]);
    let spec = claim.get("spec").unwrap_or(&Value::Null);
    let status = claim.get("status").unwrap_or(&Value::Null);
    let asked = Amount::read(&spec["resources"]["requests"]["storage"]);
    let given = Amount::read(&status["allocatedResources"]["storage"]);
    if let Some(asked) = asked {
        let mut most = match given {
            Some(given) if given.quantity() > asked.quantity() => given,
            _ => asked,
        };
        most.round_up();
        used.insert("requests.storage".into(), most);
    }
    let annotations = claim
        .get("metadata")
        .and_then(|metadata| metadata.get("annotations"));
    let older =
        annotations.and_then(|annotations| annotations.get("volume.beta.kubernetes.io/storage-class"));
    let class = older
        .or_else(|| spec.get("storageClassName"))
        .and_then(Value::as_str);
    if let Some(class) = class.filter(|class| !class.is_empty()) {
        let of_class: Vec<_> = used
            .iter()
            .map(|(name, amount)| (format!("{class}{BY_CLASS}{name}"), amount.clone()))
            .collect();
        used.extend(of_class);
    }
    used
}

/// The names of an object's members.
pub(super) fn names(value: &Value) -> impl Iterator<Item = &str> {
    let members = value.as_object().into_iter().flat_map(Map::keys);
    members.map(String::as_str)
}
