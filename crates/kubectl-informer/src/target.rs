//! The target of a command: a server, a resource, and a selection of its objects.

use crate::args::SelectionArgs;
use crate::config::given;
use crate::connection::Connection;
use crate::discovery::{Resource, Resources};
use crate::failure::{Usage, chain};
use anyhow::anyhow;
use http::StatusCode;
use kube::Resource as _;
use kube::core::params::ListParams;
use kube::core::{DynamicObject, Request};
use kube_informer::selector::{FieldSelector, LabelSelector, ParseSelectorError};
use kube_informer::source::{ClientSource, Selection};

/// A resource of a server, and a selection of its objects.
pub(crate) struct Target {
    pub(crate) connection: Connection,
    pub(crate) resource: Resource,
    pub(crate) selection: Selection,
}

impl Target {
    /// Connects to the server and finds the resource.
    ///
    /// # Errors
    /// The server cannot be reached or is not a Kubernetes API server, there is no such resource, or a selector is
    /// malformed.
    pub(crate) async fn find(args: &SelectionArgs) -> anyhow::Result<Self> {
        check_syntax(args)?;
        let connection = Connection::new(&args.connection).await?;
        let resource = Resources::of(&connection).await?.resolve(&args.resource)?.clone();
        let namespace = given(&args.namespace).unwrap_or(&connection.default_namespace);
        let selection = Selection {
            namespace: (resource.namespaced && !args.all_namespaces).then(|| namespace.to_owned()),
            label_selector: given(&args.selector).map(ToOwned::to_owned),
            field_selector: given(&args.field_selector).map(ToOwned::to_owned),
        };
        selection
            .validate()
            .map_err(|error| anyhow!("{error} (from the context of the kubeconfig)"))?;
        let target = Self {
            connection,
            resource,
            selection,
        };
        if target.selection.label_selector.is_some() || target.selection.field_selector.is_some() {
            target.check_selectors().await?;
        }
        Ok(target)
    }

    /// The objects as an informer's source.
    pub(crate) fn source(&self) -> ClientSource {
        ClientSource::new(
            self.connection.client.clone(),
            self.resource.api(),
            self.selection.clone(),
        )
    }

    /// Checks whether the server accepts the selectors, since it supports only certain fields, and an informer would
    /// retry for ever. Any other error is left to the informer.
    async fn check_selectors(&self) -> anyhow::Result<()> {
        let answer = self.connection.get(&self.probe()?, "application/json").await?;
        if answer.status != StatusCode::BAD_REQUEST {
            return Ok(());
        }
        let message = answer.message().unwrap_or_else(|| "it is malformed".into());
        let Selection {
            label_selector: labels,
            field_selector: fields,
            ..
        } = &self.selection;
        let given = [("--selector", labels), ("--field-selector", fields)];
        let given = given.map(|(option, text)| text.as_ref().map(|text| format!("{option} {text:?}")));
        let given: Vec<_> = given.into_iter().flatten().collect();
        Err(anyhow!(Usage(format!(
            "the server does not take {}: {message}",
            given.join(" ")
        ))))
    }

    /// The path and query of the smallest list with these selectors.
    fn probe(&self) -> anyhow::Result<String> {
        let Selection {
            namespace,
            label_selector,
            field_selector,
        } = &self.selection;
        let list = ListParams {
            label_selector: label_selector.clone(),
            field_selector: field_selector.clone(),
            limit: Some(1),
            ..ListParams::default()
        };
        let path = DynamicObject::url_path(&self.resource.api(), namespace.as_deref());
        Ok(Request::new(path).list(&list)?.uri().to_string())
    }
}

/// Checks the selectors as far as that is possible without a server.
fn check_syntax(args: &SelectionArgs) -> Result<(), Usage> {
    let malformed = |option, text: &str, error: ParseSelectorError| {
        Usage(format!("{option} {text:?} is malformed: {}", chain(&error)))
    };
    let namespace = Selection {
        namespace: args.namespace.clone(),
        ..Selection::default()
    };
    namespace
        .validate()
        .map_err(|error| Usage(format!("--namespace: {error}")))?;
    if let Some(text) = &args.selector {
        LabelSelector::parse(text).map_err(|error| malformed("--selector", text, error))?;
    }
    if let Some(text) = &args.field_selector {
        FieldSelector::parse(text).map_err(|error| malformed("--field-selector", text, error))?;
    }
    Ok(())
}
