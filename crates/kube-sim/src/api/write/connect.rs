//! What only a node, or what runs on it, could answer: logs, processes to talk to, ports. There are none here, so that what is
//! left is a real server's reasons to refuse, and the reason why kube-sim does.

use serde_json::Value;

use super::Object;
use crate::api::Api;
use crate::api::options::Query;
use crate::resources::Resource;
use crate::status::{Cause, StatusError};
use crate::target::Target;

impl Api {
    /// Why a request to what runs on a node is not answered; nothing if that is the answer, as for the log of a pod that has
    /// no node.
    pub(crate) fn connect(
        &self,
        target: &Target,
        subresource: &str,
        query: &Query,
    ) -> Result<(), StatusError> {
        let (resource, name) = (&target.resource, target.name.as_deref().unwrap_or(""));
        if subresource == "proxy" {
            return self.proxy(target, name);
        }
        if subresource == "log" {
            check_log_options(name, query)?;
        }
        let pod = self.storage.get(resource, &target.key());
        let pod = pod.ok_or_else(|| StatusError::not_found(resource, name))?;
        let pod = target.decode(&pod);
        check_container(&pod, name, subresource, query.get("container"))?;
        let node = pod.get("spec").and_then(|spec| spec["nodeName"].as_str());
        match (node.filter(|node| !node.is_empty()), subresource) {
            (Some(node), _) => {
                self.check_node(node, resource)?;
                Err(nothing_behind(resource, name, subresource))
            }
            (None, "log") => Ok(()),
            (None, _) => Err(StatusError::bad_request(format!(
                "pod {name} does not have a host assigned"
            ))),
        }
    }

    /// Why nothing is behind a proxy of a pod, a service or a node. Its name may have a scheme and a port.
    fn proxy(&self, target: &Target, asked: &str) -> Result<(), StatusError> {
        let resource = &target.resource;
        let Some((name, port)) = name_and_port(asked) else {
            let why = format!("invalid {} request {asked:?}", resource.singular);
            return Err(StatusError::bad_request(why));
        };
        let of_name = Target {
            name: Some(name.to_owned()),
            ..target.clone()
        };
        match resource.plural.as_str() {
            "nodes" => self.check_node(name, resource)?,
            "services" => self.check_service(&of_name, name, port)?,
            _ => {
                let pod = self.storage.get(resource, &of_name.key());
                let pod = pod.ok_or_else(|| StatusError::not_found(resource, name))?;
                let pod = target.decode(&pod);
                let address = pod.get("status").and_then(|status| status["podIP"].as_str());
                if address.unwrap_or("").is_empty() {
                    return Err(StatusError::bad_request("address not allowed"));
                }
            }
        }
        Err(nothing_behind(resource, name, "proxy"))
    }

    /// A node without an address cannot be asked. One that is not there is reported as one of what was asked for.
    fn check_node(&self, name: &str, asked: &Resource) -> Result<(), StatusError> {
        let node = self.stored("nodes", name);
        let node = node.ok_or_else(|| StatusError::not_found(asked, name))?;
        let addresses = |status: &Value| status["addresses"].as_array().is_some_and(|all| !all.is_empty());
        match node.get("status").is_some_and(addresses) {
            true => Ok(()),
            false => Err(StatusError::internal(
                "no preferred addresses found; known addresses: []",
            )),
        }
    }

    /// A service without endpoints leads nowhere.
    fn check_service(&self, target: &Target, name: &str, port: &str) -> Result<(), StatusError> {
        let resource = &target.resource;
        let not_found = || StatusError::not_found(resource, name);
        if let Ok(number) = port.parse::<i64>() {
            let service = self.storage.get(resource, &target.key()).ok_or_else(not_found)?;
            let service = target.decode(&service);
            let ports = service.get("spec").and_then(|spec| spec["ports"].as_array());
            if !ports.into_iter().flatten().any(|port| port["port"] == number) {
                let why = format!("no service port {number} found for service {name:?}");
                return Err(StatusError::unavailable(why));
            }
        }
        let endpoints = self.stored("endpoints", &target.key()).ok_or_else(not_found)?;
        let subsets = endpoints.get("subsets").and_then(Value::as_array);
        let is_ready = |subset: &Value| subset["addresses"].as_array().is_some_and(|all| !all.is_empty());
        match subsets.into_iter().flatten().any(is_ready) {
            true => Ok(()),
            false => Err(StatusError::unavailable(format!(
                "no endpoints available for service {name:?}"
            ))),
        }
    }

    /// An object of the core group.
    fn stored(&self, plural: &str, key: &str) -> Option<Object> {
        let target = Target::of(self.find("", "v1", plural)?, key);
        let object = self.storage.get(&target.resource, key)?;
        Some(target.decode(&object))
    }
}

fn nothing_behind(resource: &Resource, name: &str, subresource: &str) -> StatusError {
    let what = match subresource {
        "log" => "there are no logs",
        "exec" | "attach" => "there is no process to talk to",
        _ => "nothing listens there",
    };
    StatusError::not_implemented(format!(
        "{} {name:?} is only an object of kube-sim, which simulates an API server without kubelets: {what}",
        resource.singular
    ))
}

/// The parts of `scheme:name:port`, `name:port` or `name`.
fn name_and_port(asked: &str) -> Option<(&str, &str)> {
    let parts: Vec<_> = asked.split(':').collect();
    let (name, port) = match parts[..] {
        [name] => (name, ""),
        [name, port] => (name, port),
        ["" | "http" | "https", name, port] => (name, port),
        _ => return None,
    };
    (!name.is_empty()).then_some((name, port))
}

fn check_log_options(name: &str, query: &Query) -> Result<(), StatusError> {
    let number = |option: &str| match query.flag(option).is_some() && query.get(option).is_empty() {
        true => Err(StatusError::bad_request(
            "strconv.ParseInt: parsing \"\": invalid syntax",
        )),
        false => query.number(option),
    };
    let (tail, limit, since) = (
        number("tailLines")?,
        number("limitBytes")?,
        number("sinceSeconds")?,
    );
    let time = query.get("sinceTime");
    if !time.is_empty() && time.parse::<jiff::Timestamp>().is_err() {
        let why = format!(
            "parsing time {time:?} as \"2006-01-02T15:04:05Z07:00\": cannot parse {time:?} as \"2006\""
        );
        return Err(StatusError::bad_request(why));
    }
    let mut causes = Vec::new();
    if let Some(tail) = tail.filter(|tail| *tail < 0) {
        let why = "must be greater than or equal to 0";
        causes.push(Cause::invalid("tailLines", tail, why));
    }
    if let Some(limit) = limit.filter(|limit| *limit < 1) {
        causes.push(Cause::invalid("limitBytes", limit, "must be greater than 0"));
    }
    match since {
        Some(_) if !time.is_empty() => {
            let why = "at most one of `sinceTime` or `sinceSeconds` may be specified";
            causes.push(Cause::forbidden("[]", why));
        }
        Some(since) if since < 1 => {
            causes.push(Cause::invalid("sinceSeconds", since, "must be greater than 0"));
        }
        _ => {}
    }
    if !query.get("stream").is_empty() {
        causes.push(Cause::forbidden("stream", "may not be specified"));
    }
    match causes.is_empty() {
        true => Ok(()),
        false => Err(StatusError::invalid("", "PodLogOptions", name, &causes)),
    }
}

/// The container that is asked for is one of the pod's, and the only one if none is named.
fn check_container(pod: &Object, name: &str, subresource: &str, container: &str) -> Result<(), StatusError> {
    let of = |list: &str| -> Vec<String> {
        let list = pod.get("spec").and_then(|spec| spec[list].as_array());
        let names = list
            .into_iter()
            .flatten()
            .filter_map(|container| container["name"].as_str());
        names.map(str::to_owned).collect()
    };
    let (main, init) = (of("containers"), of("initContainers"));
    let is_known = || {
        let known = main.iter().chain(&init).any(|name| name == container);
        known || of("ephemeralContainers").iter().any(|name| name == container)
    };
    match (subresource, container) {
        ("portforward", _) => Ok(()),
        (_, "") if main.len() <= 1 => Ok(()),
        (_, "") => {
            let mut why = format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                main.join(" ")
            );
            if !init.is_empty() {
                why += &format!(" or one of the init containers: [{}]", init.join(" "));
            }
            Err(StatusError::bad_request(why))
        }
        _ if is_known() => Ok(()),
        _ => Err(StatusError::bad_request(format!(
            "container {container} is not valid for pod {name}"
        ))),
    }
}
