//! Writing what a write takes of quotas.

use super::Writer;
use crate::api::Api;
use crate::limits::Charge;
use crate::storage::Transaction;
use crate::target::Target;

/// Who a quota's status belongs to when a write has changed it.
const MANAGER: &str = "kube-apiserver";

impl Api {
    /// Writes what a write takes of quotas.
    pub(crate) fn pay(&self, transaction: &mut Transaction<'_>, charges: Vec<Charge>) {
        let writer = Writer::Client {
            dry_run: false,
            manager: Some(MANAGER),
            user: None,
            admission: None,
            warnings: None,
        };
        for Charge { quota, used } in charges {
            let target = Target {
                subresource: Some("status".into()),
                ..quota
            };
            let Ok((current, old)) = self.current(transaction, &target) else {
                continue;
            };
            let mut new = old.clone();
            if let Some(status) = new.get_mut("status") {
                status["used"] = used;
            }
            if let Err(error) = self.update(transaction, &target, current, old, new, writer) {
                tracing::debug!(%error, "a quota could not be charged");
            }
        }
    }
}
