//! GET and LIST.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::api::Api;
use crate::api::options::{Continue, Freshness, ListOptions};
use crate::api::render::{Encoding, Form, ListBody, Render};
use crate::object::Stored;
use crate::selector::Selector;
use crate::status::StatusError;
use crate::storage::Snapshot;
use crate::target::Target;
use crate::view;

/// Echoes the shard selector, where a real server does: in whole lists of built-in kinds. Tables and lists of metadata are
/// made without it, and lists of custom resources have no place for it.
fn insert_shard_info(metadata: &mut Map<String, Value>, target: &Target, selector: &Selector, form: Form) {
    if form == Form::Full
        && !target.resource.custom
        && let Some(shards) = selector.shards()
    {
        metadata.insert("shardInfo".into(), json!({"selector": shards}));
    }
}

impl Api {
    /// `stale` is read in place of the newest state.
    pub(crate) async fn get(
        &self,
        target: &Target,
        minimum: u64,
        stale: Option<&Snapshot>,
    ) -> Result<Arc<Stored>, StatusError> {
        if minimum > self.storage.resource_version() {
            self.wait_for(minimum).await?;
        }
        let found = match stale {
            Some(stale) => stale.get(&target.key()),
            None => self.storage.get(&target.resource, &target.key()),
        };
        let missing = || StatusError::not_found(&target.resource, target.name.as_deref().unwrap_or(""));
        let found = vec![found.ok_or_else(missing)?];
        let mut found = self.converted(&target.resource, &target.version, found).await?;
        found.pop().ok_or_else(missing)
    }

    pub(crate) async fn list(
        &self,
        target: &Target,
        selector: &Selector,
        options: &ListOptions,
        (form, encoding): (Form, Encoding),
        stale: Option<&Snapshot>,
    ) -> Result<ListBody, StatusError> {
        let prefix = target.prefix();
        let (snapshot, after) = match &options.token {
            Some(token) => self.continued(target, token).await?,
            None => (self.fresh(target, options.freshness, stale).await?, None),
        };
        let limit = if options.freshness == Freshness::Any && options.token.is_none() {
            None
        } else {
            options.limit
        };
        let in_range = snapshot.range(&prefix, after.as_deref());
        let is_selected = |object: &Arc<Stored>| view::selects(selector, &target.resource, object);
        let (mut stored, mut converted);
        // A webhook may change what is selected by. Where nothing is, only the objects of this page are converted.
        let converts = target.resource.definition.webhook.is_some();
        let converts_first = converts && !selector.is_everything();
        let mut matching: &mut (dyn Iterator<Item = _> + Send) = match converts_first {
            false => {
                stored = in_range.filter(|object| is_selected(object)).cloned();
                &mut stored
            }
            true => {
                let all = in_range.cloned().collect();
                let all = self.converted(&target.resource, &target.version, all).await?;
                converted = all.into_iter().filter(is_selected);
                &mut converted
            }
        };
        let mut items: Vec<_> = Iterator::by_ref(&mut matching)
            .take(limit.unwrap_or(usize::MAX))
            .collect();
        let more = if limit.is_some() { matching.next() } else { None };

        let mut metadata = Map::new();
        if let (Some(_), Some(last)) = (more, items.last()) {
            let token = Continue::after(&last.key, &prefix, snapshot.resource_version as i64);
            metadata.insert("continue".into(), token.encode().into());
            if selector.is_everything() {
                let remaining = match (selector.shards(), limit) {
                    // A real server counts the objects of the other shards, too.
                    (Some(_), Some(limit)) => snapshot.range(&prefix, after.as_deref()).count() - limit,
                    _ => matching.count() + 1,
                };
                metadata.insert("remainingItemCount".into(), remaining.into());
            }
        }
        if converts && !converts_first {
            items = self.converted(&target.resource, &target.version, items).await?;
        }
        insert_shard_info(&mut metadata, target, selector, form);
        let render = Render::new(target, form, encoding, self.now())?;
        let length = render.length_of_many(&items).await?;
        render.list(snapshot.resource_version, metadata, items, length)
    }

    /// A list of these objects, which `selector` has selected, in their current state.
    pub(crate) fn list_of(
        &self,
        target: &Target,
        selector: &Selector,
        items: Vec<Arc<Stored>>,
        (form, encoding): (Form, Encoding),
    ) -> Result<ListBody, StatusError> {
        let mut metadata = Map::new();
        insert_shard_info(&mut metadata, target, selector, form);
        let render = Render::new(target, form, encoding, self.now())?;
        let length = render.length(&items)?;
        render.list(self.storage.resource_version(), metadata, items, length)
    }

    async fn fresh(
        &self,
        target: &Target,
        freshness: Freshness,
        stale: Option<&Snapshot>,
    ) -> Result<Snapshot, StatusError> {
        let enough = |stale: &&Snapshot| match freshness {
            Freshness::Any => true,
            Freshness::NotOlderThan(version) => version <= stale.resource_version,
            Freshness::Newest | Freshness::Exact(_) => false,
        };
        if let Some(stale) = stale.filter(enough) {
            return Ok(stale.clone());
        }
        if let Freshness::NotOlderThan(version) | Freshness::Exact(version) = freshness {
            self.wait_for(version).await?;
        }
        match freshness {
            Freshness::Exact(version) => self
                .storage
                .snapshot_at(&target.resource, version)
                .map_err(|_| StatusError::expired("The resourceVersion for the provided list is too old.")),
            _ => Ok(self.storage.snapshot(&target.resource)),
        }
    }

    /// The list that `token` continues, and the key of its last page's last object.
    async fn continued(
        &self,
        target: &Target,
        token: &Continue,
    ) -> Result<(Snapshot, Option<String>), StatusError> {
        let key = token.key(&target.prefix());
        let Ok(version) = u64::try_from(token.rv) else {
            return Ok((self.storage.snapshot(&target.resource), Some(key)));
        };
        self.wait_for(version).await?;
        let snapshot = self.storage.snapshot_at(&target.resource, version);
        let snapshot = snapshot.map_err(|_| token.expired(&target.prefix()))?;
        Ok((snapshot, Some(key)))
    }
}
