//! What a client is warned of.

use std::collections::HashSet;

use http::header::WARNING;
use http::{HeaderValue, Response};

use crate::admission::Admission;
use crate::response::SimBody;
use crate::warnings::MOST;

use super::Call;

impl Call {
    /// What the client is to be warned of, once.
    pub(super) fn warnings(&self) -> Vec<String> {
        let [of_changes, of_checks] = self
            .admission
            .as_ref()
            .map(Admission::warnings)
            .unwrap_or_default();
        let of_object = self.warnings.take();
        let mut warnings = [self.fields.warnings(), of_changes, of_object, of_checks].concat();
        let mut seen = HashSet::new();
        warnings.retain(|warning| seen.insert(warning.clone()));
        warnings
    }
}

/// The most characters of each warning of a response, if they are too many.
const LONG_WARNING: usize = 256;

/// Adds warnings to a response, in the form of RFC 7234: as many as a real server adds. Those that cannot be in a header are left out.
pub(super) fn warn(response: &mut Response<SimBody>, warnings: &[String]) {
    let is_text = |warning: &&String| !warning.is_empty() && !warning.contains(char::is_control);
    let warnings: Vec<_> = warnings.iter().filter(is_text).collect();
    let all: usize = warnings.iter().map(|warning| warning.chars().count()).sum();
    let longest = if all > MOST { LONG_WARNING } else { MOST };
    let mut written = 0;
    for warning in warnings {
        if written >= MOST {
            return;
        }
        let warning: String = warning.chars().take(longest).collect();
        written += warning.chars().count();
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::try_from(format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

/// Adds warnings in front of those that are there.
pub(super) fn warn_first(response: &mut Response<SimBody>, warnings: &[String]) {
    let others: Vec<_> = response.headers().get_all(WARNING).iter().cloned().collect();
    response.headers_mut().remove(WARNING);
    warn(response, warnings);
    for other in others {
        response.headers_mut().append(WARNING, other);
    }
}
