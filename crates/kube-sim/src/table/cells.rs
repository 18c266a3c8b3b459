//! What the columns of built-in kinds show, where it is more than a field.

use serde_json::Value;

use super::row::{Row, human_duration, or, shown};

/// How many items of a list are shown; of the others, how many they are.
const SHOWN: usize = 3;

fn str_of<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or("")
}

/// The strings of a list, joined by commas.
pub(super) fn joined(items: &[Value]) -> String {
    items
        .iter()
        .filter_map(Value::as_str)
        .collect::<Vec<_>>()
        .join(",")
}

/// The first of a list, and how many more there are.
fn first_of(list: &[String], default: &str) -> String {
    let shown = list[..list.len().min(SHOWN)].join(",");
    match list.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{shown} + {more} more..."),
        _ => or(&shown, default).to_owned(),
    }
}

pub(super) fn labels(map: Option<&Value>) -> Value {
    or(&equalities(map).join(","), "<none>").into()
}

fn equalities(map: Option<&Value>) -> Vec<String> {
    let members = map.and_then(Value::as_object).into_iter().flatten();
    let mut terms: Vec<_> = members
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or("")))
        .collect();
    terms.sort_unstable();
    terms
}

/// A label selector, or that there is none.
pub(super) fn selector(selector: Option<&Value>) -> Value {
    or(&requirements(selector), "<none>").into()
}

/// A label selector as it is written in a request.
pub(super) fn requirements(selector: Option<&Value>) -> String {
    let Some(selector) = selector else {
        return String::new();
    };
    let mut terms: Vec<(String, String)> = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        terms.push((key.clone(), format!("{key}={}", value.as_str().unwrap_or(""))));
    }
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = str_of(expression, "key");
        let mut values: Vec<_> = expression["values"].as_array().into_iter().flatten().collect();
        values.sort_unstable_by_key(|value| value.as_str());
        let values: Vec<_> = values.into_iter().filter_map(Value::as_str).collect();
        let values = values.join(",");
        let term = match str_of(expression, "operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort_by(|one, other| one.0.cmp(&other.0));
    let terms: Vec<_> = terms.into_iter().map(|(_, term)| term).collect();
    terms.join(",")
}

/// The name, marked if an annotation says that it is the default.
pub(super) fn name_of_default(row: &Row<'_>, annotations: &[&str]) -> Value {
    let name = row.text("/metadata/name");
    match annotations.iter().any(|of| row.annotation(of) == Some("true")) {
        true => format!("{name} (default)").into(),
        false => name.into(),
    }
}

/// The status of a condition; empty if it is not there.
pub(super) fn condition<'a>(row: &Row<'a>, kind: &str) -> &'a str {
    let conditions = row.list("/status/conditions").iter();
    let found = conditions.rev().find(|condition| condition["type"] == kind);
    found.map_or("", |condition| str_of(condition, "status"))
}

// Endpoints

pub(super) fn endpoints(row: &Row<'_>) -> Value {
    let mut all = Vec::new();
    for subset in row.list("/subsets") {
        let addresses = subset["addresses"].as_array().into_iter().flatten();
        let addresses: Vec<_> = addresses.map(|address| str_of(address, "ip")).collect();
        let ports = subset["ports"].as_array().map_or(&[][..], Vec::as_slice);
        if ports.is_empty() {
            all.extend(addresses.iter().map(|address| (*address).to_owned()));
        }
        for port in ports {
            let port = &port["port"];
            all.extend(addresses.iter().map(|address| match address.contains(':') {
                true => format!("[{address}]:{port}"),
                false => format!("{address}:{port}"),
            }));
        }
    }
    let default = if row.list("/subsets").is_empty() {
        "<none>"
    } else {
        ""
    };
    first_of(&all, default).into()
}

pub(super) fn slice_ports(row: &Row<'_>) -> Value {
    let ports = row.list("/ports").iter().map(|port| match &port["port"] {
        Value::Null => shown(port.get("name"), "*"),
        number => number.to_string(),
    });
    first_of(&ports.collect::<Vec<_>>(), "<unset>").into()
}

pub(super) fn slice_endpoints(row: &Row<'_>) -> Value {
    let endpoints = row.list("/endpoints").iter();
    let addresses = endpoints.flat_map(|endpoint| endpoint["addresses"].as_array().into_iter().flatten());
    let addresses: Vec<_> = addresses.filter_map(Value::as_str).map(str::to_owned).collect();
    first_of(&addresses, "<unset>").into()
}

// Events

pub(super) fn first_seen(row: &Row<'_>) -> String {
    match row.text("/firstTimestamp") {
        "" => row.since("/eventTime"),
        time => row.age(time),
    }
}

pub(super) fn last_seen(row: &Row<'_>) -> Value {
    let last = match (row.get("/series"), row.text("/lastTimestamp")) {
        (Some(_), _) => row.since("/series/lastObservedTime"),
        (None, "") => first_seen(row),
        (None, time) => row.age(time),
    };
    last.into()
}

pub(super) fn event_count(row: &Row<'_>) -> Value {
    match (row.get("/series"), row.number("/count")) {
        (Some(_), _) => row.number("/series/count").into(),
        (None, 0) => 1.into(),
        (None, count) => count.into(),
    }
}

pub(super) fn involved(row: &Row<'_>) -> Value {
    let kind = row.text("/involvedObject/kind").to_lowercase();
    match row.text("/involvedObject/name") {
        "" => kind.into(),
        name => format!("{kind}/{name}").into(),
    }
}

pub(super) fn event_source(row: &Row<'_>) -> Value {
    let component = or(row.text("/source/component"), row.text("/reportingComponent"));
    match or(row.text("/source/host"), row.text("/reportingInstance")) {
        "" => component.into(),
        instance => format!("{component}, {instance}").into(),
    }
}

// Nodes

pub(super) fn node_status(row: &Row<'_>) -> Value {
    let status = match condition(row, "Ready") {
        "True" => "Ready",
        "" => "Unknown",
        _ => "NotReady",
    };
    match row.flag("/spec/unschedulable", false) {
        true => format!("{status},SchedulingDisabled").into(),
        false => status.into(),
    }
}

pub(super) fn node_roles(row: &Row<'_>) -> Value {
    let labels = row.get("/metadata/labels").and_then(Value::as_object);
    let role = |(label, value): (&String, &Value)| match label.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_owned()),
        None if label == "kubernetes.io/role" => value.as_str().map(str::to_owned),
        None => None,
    };
    let mut roles: Vec<_> = labels.into_iter().flatten().filter_map(role).collect();
    roles.retain(|role| !role.is_empty());
    roles.sort_unstable();
    roles.dedup();
    or(&roles.join(","), "<none>").into()
}

pub(super) fn node_address(row: &Row<'_>, kind: &str) -> Value {
    let mut addresses = row.list("/status/addresses").iter();
    let found = addresses.find(|address| address["type"] == kind);
    found
        .map_or("<none>", |address| str_of(address, "address"))
        .into()
}

pub(super) fn kernel_version(row: &Row<'_>) -> Value {
    let version = or(row.text("/status/nodeInfo/kernelVersion"), "<unknown>");
    match row.text("/status/nodeInfo/architecture") {
        "" => version.into(),
        architecture => format!("{version} ({architecture})").into(),
    }
}

// Volumes

pub(super) fn volume_phase(row: &Row<'_>) -> Value {
    match row.is_deleted() {
        true => "Terminating".into(),
        false => row.text("/status/phase").into(),
    }
}

pub(super) fn access_modes(modes: &[Value]) -> Value {
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let given = known
        .iter()
        .filter(|(mode, _)| modes.iter().any(|given| given == mode));
    given
        .map(|(_, short)| *short)
        .collect::<Vec<_>>()
        .join(",")
        .into()
}

pub(super) fn storage_class(row: &Row<'_>) -> Value {
    let annotated = row.annotation("volume.beta.kubernetes.io/storage-class");
    annotated
        .unwrap_or_else(|| row.text("/spec/storageClassName"))
        .into()
}

pub(super) fn claim_state(row: &Row<'_>) -> Value {
    let mut states = Vec::new();
    if row.is_deleted() {
        states.push("deleted");
    }
    if row.get("/status/allocation").is_some() {
        states.push("allocated");
        if row.length("/status/reservedFor") > 0 {
            states.push("reserved");
        }
    } else if !row.is_deleted() {
        states.push("pending");
    }
    states.join(",").into()
}

// Services and Ingresses

/// The addresses of a load balancer, in order.
pub(super) fn balancer_addresses(row: &Row<'_>) -> Vec<String> {
    let ingress = row.list("/status/loadBalancer/ingress").iter();
    let addresses = ingress.map(|ingress| or(str_of(ingress, "ip"), str_of(ingress, "hostname")).to_owned());
    let mut addresses: Vec<_> = addresses.filter(|address| !address.is_empty()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

pub(super) fn external_addresses(row: &Row<'_>) -> Value {
    let given = row.list("/spec/externalIPs").iter().filter_map(Value::as_str);
    match row.text("/spec/type") {
        "ClusterIP" | "NodePort" => or(&given.collect::<Vec<_>>().join(","), "<none>").into(),
        "LoadBalancer" => {
            let mut all = balancer_addresses(row);
            all.extend(given.map(str::to_owned));
            or(&all.join(","), "<pending>").into()
        }
        "ExternalName" => row.text("/spec/externalName").into(),
        _ => "<unknown>".into(),
    }
}

pub(super) fn service_ports(row: &Row<'_>) -> Value {
    let ports = row.list("/spec/ports").iter().map(|port| {
        let (number, protocol) = (&port["port"], str_of(port, "protocol"));
        match port["nodePort"].as_i64() {
            Some(of_node) if of_node > 0 => format!("{number}:{of_node}/{protocol}"),
            _ => format!("{number}/{protocol}"),
        }
    });
    or(&ports.collect::<Vec<_>>().join(","), "<none>").into()
}

pub(super) fn hosts(row: &Row<'_>) -> Value {
    let rules = row.list("/spec/rules");
    let mut hosts = Vec::new();
    let mut is_cut = false;
    for rule in rules {
        is_cut |= hosts.len() == SHOWN;
        let host = str_of(rule, "host");
        if !is_cut && !host.is_empty() {
            hosts.push(host);
        }
    }
    let shown = hosts.join(",");
    match is_cut {
        true => format!("{shown} + {} more...", rules.len() - SHOWN).into(),
        false => or(&shown, "*").into(),
    }
}

pub(super) fn class_parameters(row: &Row<'_>) -> Value {
    let Some(parameters) = row.get("/spec/parameters") else {
        return "<none>".into();
    };
    let group = match &parameters["apiGroup"] {
        Value::String(group) => format!(".{group}"),
        _ => String::new(),
    };
    format!(
        "{}{group}/{}",
        str_of(parameters, "kind"),
        str_of(parameters, "name")
    )
    .into()
}

pub(super) fn parent(row: &Row<'_>) -> Value {
    let Some(parent) = row.get("/spec/parentRef") else {
        return "<none>".into();
    };
    let mut text = str_of(parent, "resource").to_owned();
    for (name, before) in [("group", '.'), ("namespace", '/'), ("name", '/')] {
        let part = str_of(parent, name);
        if !part.is_empty() {
            text.push(before);
            text += part;
        }
    }
    text.into()
}

// Workloads

pub(super) fn controller(row: &Row<'_>) -> Value {
    let mut owners = row.list("/metadata/ownerReferences").iter();
    let Some(owner) = owners.find(|owner| owner["controller"] == true) else {
        return "<none>".into();
    };
    let kind = match str_of(owner, "apiVersion").split_once('/') {
        Some((group, _)) => format!("{}.{group}", str_of(owner, "kind")),
        None => str_of(owner, "kind").to_owned(),
    };
    format!("{}/{}", kind.to_lowercase(), str_of(owner, "name")).into()
}

pub(super) fn job_status(row: &Row<'_>) -> Value {
    let holds = |kind: &&str| condition(row, kind) == "True";
    let ended = ["Complete", "Failed"].into_iter().find(holds);
    let going = ["Suspended", "FailureTarget", "SuccessCriteriaMet"]
        .into_iter()
        .find(holds);
    match (ended, row.is_deleted(), going) {
        (Some(ended), _, _) => ended.into(),
        (None, true, _) => "Terminating".into(),
        (None, false, Some(going)) => going.into(),
        (None, false, None) => "Running".into(),
    }
}

pub(super) fn completions(row: &Row<'_>) -> Value {
    let done = row.number("/status/succeeded");
    let parallel = row.number("/spec/parallelism");
    match row.get("/spec/completions") {
        Some(wanted) => format!("{done}/{wanted}").into(),
        None if parallel > 1 => format!("{done}/1 of {parallel}").into(),
        None => format!("{done}/1").into(),
    }
}

pub(super) fn job_duration(row: &Row<'_>) -> Value {
    let (start, end) = (row.text("/status/startTime"), row.text("/status/completionTime"));
    if end.is_empty() {
        return if start.is_empty() {
            "".into()
        } else {
            row.age(start).into()
        };
    }
    match end.parse() {
        Ok(now) => Row {
            object: row.object,
            now,
        }
        .age(start)
        .into(),
        Err(_) => "".into(),
    }
}

pub(super) fn metrics(row: &Row<'_>) -> Value {
    let (wanted, found) = (row.list("/spec/metrics"), row.list("/status/currentMetrics"));
    let mut all: Vec<_> = wanted
        .iter()
        .enumerate()
        .map(|(at, metric)| target(metric, found.get(at).unwrap_or(&Value::Null)))
        .collect();
    let more = all.len().saturating_sub(2);
    all.truncate(2);
    let text = all.join(", ");
    match more {
        0 => or(&text, "<none>").into(),
        more => format!("{text} + {more} more...").into(),
    }
}

/// What is wanted of a metric, and what it is.
fn target(metric: &Value, found: &Value) -> String {
    let part = match str_of(metric, "type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".into(),
    };
    let (wanted, now) = (&metric[part]["target"], &found[part]["current"]);
    let current = |name: &str| shown(now.get(name), "<unknown>");
    let average = wanted.get("averageValue");
    if part == "pods" {
        return format!("{}/{}", current("averageValue"), shown(average, "0"));
    }
    if !part.ends_with("esource") {
        return match average {
            Some(average) => format!("{}/{} (avg)", current("averageValue"), shown(Some(average), "")),
            None => format!("{}/{}", current("value"), shown(wanted.get("value"), "0")),
        };
    }
    let name = str_of(&metric[part], "name");
    if let Some(average) = average {
        return format!("{name}: {}/{}", current("averageValue"), shown(Some(average), ""));
    }
    let percent = |value: &Value, default: &str| match value.as_i64() {
        Some(percent) => format!("{percent}%"),
        None => default.to_owned(),
    };
    let (now, wanted) = (&now["averageUtilization"], &wanted["averageUtilization"]);
    format!(
        "{name}: {}/{}",
        percent(now, "<unknown>"),
        percent(wanted, "<auto>")
    )
}

/// What is used of a quota: of limits, or of all else.
pub(super) fn quota(row: &Row<'_>, of_limits: bool) -> Value {
    let hard = row.get("/status/hard").and_then(Value::as_object);
    let mut hard: Vec<_> = hard.into_iter().flatten().collect();
    hard.retain(|(name, _)| name.starts_with("limits.") == of_limits);
    hard.sort_unstable_by_key(|(name, _)| *name);
    let used = row.get("/status/used");
    let terms = hard.into_iter().map(|(name, hard)| {
        let used = shown(used.and_then(|used| used.get(name)), "0");
        format!("{name}: {used}/{}", shown(Some(hard), "0"))
    });
    terms.collect::<Vec<_>>().join(", ").into()
}

// Others

/// What the condition of a component says.
pub(super) fn component(row: &Row<'_>, field: &str) -> Value {
    let mut conditions = row.list("/conditions").iter();
    let healthy = conditions.find(|condition| condition["type"] == "Healthy");
    healthy.map_or("", |condition| str_of(condition, field)).into()
}

pub(super) fn component_status(row: &Row<'_>) -> Value {
    let mut conditions = row.list("/conditions").iter();
    let healthy = conditions.find(|condition| condition["type"] == "Healthy");
    match healthy.map(|condition| condition["status"] == "True") {
        Some(true) => "Healthy".into(),
        Some(false) => "Unhealthy".into(),
        None => "Unknown".into(),
    }
}

pub(super) fn subjects(row: &Row<'_>, kind: &str) -> Value {
    let subjects = row
        .list("/subjects")
        .iter()
        .filter(|subject| subject["kind"] == kind);
    let names = subjects.map(|subject| match kind {
        "ServiceAccount" => format!("{}/{}", str_of(subject, "namespace"), str_of(subject, "name")),
        _ => str_of(subject, "name").to_owned(),
    });
    names.collect::<Vec<_>>().join(", ").into()
}

pub(super) fn param_ref(row: &Row<'_>) -> Value {
    match (
        row.text("/spec/paramRef/namespace"),
        row.text("/spec/paramRef/name"),
    ) {
        (_, "") => "<unset>".into(),
        (namespace, name) => format!("{}/{name}", or(namespace, "*")).into(),
    }
}

pub(super) fn limit(row: &Row<'_>, pointer: &str) -> Value {
    match row.get(pointer) {
        Some(number) => number.clone(),
        None if row
            .get(pointer.rsplit_once('/').map_or("", |(parent, _)| parent))
            .is_some() =>
        {
            0.into()
        }
        None => "<none>".into(),
    }
}

pub(super) fn available(row: &Row<'_>) -> Value {
    let mut conditions = row.list("/status/conditions").iter();
    let Some(found) = conditions.find(|condition| condition["type"] == "Available") else {
        return "Unknown".into();
    };
    match (str_of(found, "status"), str_of(found, "reason")) {
        ("True", _) => "True".into(),
        (status, "") => status.into(),
        (status, reason) => format!("{status} ({reason})").into(),
    }
}

pub(super) fn requested_duration(row: &Row<'_>) -> Value {
    match row.get("/spec/expirationSeconds").and_then(Value::as_i64) {
        Some(seconds) => human_duration(seconds).into(),
        None => "<none>".into(),
    }
}

pub(super) fn signing_condition(row: &Row<'_>) -> Value {
    let has = |kind: &str| {
        row.list("/status/conditions")
            .iter()
            .any(|condition| condition["type"] == kind)
    };
    let mut text = match () {
        () if has("Denied") => "Denied",
        () if has("Approved") => "Approved",
        () => "Pending",
    }
    .to_owned();
    if has("Failed") {
        text += ",Failed";
    }
    if !row.text("/status/certificate").is_empty() {
        text += ",Issued";
    }
    text.into()
}
