//! Which webhook converts the objects of a definition.

use serde_json::Value;

use crate::status::StatusError;
use crate::webhook::are_usable;

/// Where a definition says that its objects are converted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Webhook {
    pub(super) client: Value,
    /// The version of the ConversionReview; none if the webhook knows none of this server's.
    pub(super) review: Option<&'static str>,
    /// Whether its authorities can be read, without which nothing of the definition is served.
    usable: bool,
}

impl Webhook {
    /// That of the spec of a definition; none if its objects are not converted by one.
    pub(crate) fn of(spec: &Value) -> Option<Self> {
        let conversion = &spec["conversion"];
        let webhook = Some(&conversion["webhook"]).filter(|_| conversion["strategy"] == "Webhook")?;
        let reviews = webhook["conversionReviewVersions"].as_array();
        let mut reviews = reviews.into_iter().flatten().filter_map(Value::as_str);
        let client = &webhook["clientConfig"];
        Some(Self {
            usable: are_usable(client["caBundle"].as_str().unwrap_or("")),
            client: client.clone(),
            review: reviews.find_map(|version| ["v1", "v1beta1"].into_iter().find(|known| *known == version)),
        })
    }

    pub(crate) fn is_usable(&self) -> bool {
        self.usable
    }

    /// # Errors
    ///
    /// Nothing of the definition can be served: neither read nor written, in whichever version.
    pub(crate) fn ensure_usable(&self) -> Result<(), StatusError> {
        match self.usable {
            true => Ok(()),
            false => Err(StatusError::internal_error("error resolving resource")),
        }
    }
}
