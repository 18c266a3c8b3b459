//! The templates of pods in objects of built-in kinds.

use serde_json::Value;

use crate::meta::Object;

/// The members that lead to the template of pods in an object of a kind, one in the other; none if the kind has no template.
pub(super) fn template_path(id: &str) -> &'static [&'static str] {
    match id {
        "podtemplates" => &["template"],
        "cronjobs.batch" => &["spec", "jobTemplate", "spec", "template"],
        "replicationcontrollers"
        | "replicasets.apps"
        | "deployments.apps"
        | "statefulsets.apps"
        | "daemonsets.apps"
        | "jobs.batch" => &["spec", "template"],
        _ => &[],
    }
}

/// The template of pods in an object of a kind.
pub(crate) fn template_of<'a>(id: &str, object: &'a Object) -> Option<&'a Object> {
    let (first, rest) = template_path(id).split_first()?;
    let first = object.get(*first)?;
    let template = rest.iter().try_fold(first, |value, member| value.get(member));
    template.and_then(Value::as_object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Registry;
    use crate::schema::{Node, Schema};

    /// Where a schema has a template of pods.
    fn published(schema: &Schema) -> Vec<&str> {
        const TEMPLATE: &str = "io.k8s.api.core.v1.PodTemplateSpec";
        let is_template =
            |node: &Node| matches!(node, Node::There { definition, .. } if definition.name == TEMPLATE);
        // Metadata leads nowhere, and statuses say only what has become of a template.
        let members = schema
            .properties
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "metadata" | "status"));
        for (name, node) in members {
            if is_template(node) {
                return vec![name];
            }
            let rest = published(node.get());
            if !rest.is_empty() {
                return std::iter::once(name.as_str()).chain(rest).collect();
            }
        }
        Vec::new()
    }

    #[test]
    fn templates_are_where_the_published_schemas_have_them() {
        let registry = Registry::builtin();
        let mut found = 0;
        for resource in registry.iter().filter(|resource| !resource.review) {
            // Schemas of definitions have themselves in them.
            if resource.group == "apiextensions.k8s.io" {
                continue;
            }
            let schema = resource.schema(resource.preferred());
            let schema = schema.unwrap_or_else(|| panic!("{} has a schema", resource.id()));
            let path = published(&schema);
            assert_eq!(template_path(&resource.id()), path, "{}", resource.id());
            found += usize::from(!path.is_empty());
        }
        assert_eq!(found, 8);
    }
}
