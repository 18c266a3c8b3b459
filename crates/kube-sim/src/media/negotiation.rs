//! Which encoding is answered in.

use http::Method;
use http::header::ACCEPT;
use http::request::Parts;

use crate::api::Api;
use crate::api::render::Encoding;
use crate::discovery::routes;
use crate::target::segments;

/// What was made of a request's Accept header.
pub(super) struct Negotiated {
    /// Of an answer.
    pub(super) answer: Encoding,
    /// Of a refusal, which has no other forms.
    pub(super) refusal: Encoding,
    /// The header that asks for the same in JSON; none if no clause can be served, so that it is refused as it is.
    pub(super) accept: Option<String>,
    custom: bool,
}

impl Negotiated {
    pub(super) fn new(api: &Api, request: &Parts) -> Self {
        let path = request.uri.path();
        let segments = segments(path);
        if routes::is_about(&segments) {
            let about = About::Discovery {
                aggregates: routes::aggregates(path),
                routed: routes::is_routed(&api.registry(), &segments),
            };
            return Self::of(accept(request), about);
        }
        let is_custom = |group: &str| api.registry().iter().any(|r| r.custom && r.group == group);
        let custom = matches!(segments[..], ["apis", group, ..] if is_custom(group));
        let accept = match segments[..] {
            ["api" | "apis", ..] => accept(request),
            // Versions, health and OpenAPI are what they are.
            _ => "",
        };
        Self::of(accept, About::Objects { custom })
    }

    fn of(accept: &str, about: About) -> Self {
        let clauses = clauses(accept);
        let served = |form: Option<Form>| {
            let mut clauses = clauses.iter().map(|clause| (clause, clause.form()));
            clauses.find_map(|(clause, of_clause)| {
                let is_meant = form.is_none_or(|form| form == of_clause);
                let encoding = is_meant.then(|| clause.serve(about, of_clause)).flatten()?;
                Some((encoding, clause.in_json(of_clause)))
            })
        };
        let answer = match about {
            About::Objects { .. } => served(None),
            // All at once is what is meant, wherever it stands.
            About::Discovery { aggregates, .. } => aggregates
                .then(|| served(Some(Form::Aggregated)))
                .flatten()
                .or_else(|| served(Some(Form::Whole))),
        };
        let refusal = clauses
            .iter()
            .filter(|clause| clause.form() == Form::Whole)
            .find_map(|clause| clause.refuse(about));
        let (answer, accept) = answer.unzip();
        Self {
            answer: answer.unwrap_or(Encoding::Json),
            refusal: refusal.unwrap_or(Encoding::Json),
            accept,
            custom: matches!(about, About::Objects { custom: true }),
        }
    }

    /// Whether a body may be in this encoding.
    pub(super) fn reads(&self, encoding: Encoding, method: &Method) -> bool {
        match encoding {
            // The options of a deletion are of no custom kind.
            Encoding::Protobuf => !self.custom || *method == Method::DELETE,
            // No patch is of a type that objects have.
            _ => *method != Method::PATCH,
        }
    }
}

fn accept(request: &Parts) -> &str {
    let accept = request.headers.get(ACCEPT);
    accept.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// What a request is about, which decides what of its header can be served.
#[derive(Clone, Copy)]
enum About {
    Objects {
        custom: bool,
    },
    /// `aggregates` says whether all of it can be had at once; `routed` whether a router looks at media types before.
    Discovery {
        aggregates: bool,
        routed: bool,
    },
}

impl About {
    /// Whether `application/*` is understood.
    fn knows_ranges(self) -> bool {
        match self {
            // Only the part of a real server that serves custom resources understands it.
            Self::Objects { custom } => custom,
            Self::Discovery { routed, .. } => !routed,
        }
    }
}

/// Whether there is a clause for something that is known.
pub(super) fn has_media_type(accept: &str) -> bool {
    let known = [Encoding::Json, Encoding::Yaml, Encoding::Protobuf].map(Encoding::media_type);
    clauses(accept)
        .iter()
        .any(|clause| clause.range == "*/*" || known.contains(&clause.range))
}

/// What a clause asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Table,
    Metadata,
    /// All of discovery at once.
    Aggregated,
    Unknown,
}

/// One clause of an Accept header.
struct Clause<'a> {
    range: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    quality: f32,
    /// Empty: none.
    stream: &'a str,
}

/// The clauses, the best first.
fn clauses(accept: &str) -> Vec<Clause<'_>> {
    let clauses = accept
        .split(',')
        .map(str::trim)
        .filter(|clause| !clause.is_empty());
    let mut clauses: Vec<_> = clauses.map(Clause::parse).collect();
    clauses.sort_by(|one, other| {
        let wildcards = |clause: &Clause<'_>| clause.range.matches('*').count();
        let by_quality = other.quality.total_cmp(&one.quality);
        by_quality.then(wildcards(one).cmp(&wildcards(other)))
    });
    clauses
}

impl<'a> Clause<'a> {
    fn parse(text: &'a str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let range = parts.next().unwrap_or_default();
        let mut parameters: Vec<_> = parts.filter_map(|part| part.split_once('=')).collect();
        let quality = parameters.iter().find(|(name, _)| *name == "q");
        let quality = quality.and_then(|(_, value)| value.parse().ok()).unwrap_or(1.0);
        let stream = parameters.iter().find(|(name, _)| *name == "stream");
        let stream = stream.map_or("", |(_, value)| value);
        parameters.retain(|(name, _)| matches!(*name, "as" | "g" | "v"));
        Self {
            range,
            parameters,
            quality,
            stream,
        }
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        let found = self.parameters.iter().find(|(one, _)| *one == name);
        found.map(|(_, value)| *value)
    }

    fn form(&self) -> Form {
        let is_meta = self.parameter("g").is_none_or(|group| group == "meta.k8s.io");
        match (self.parameter("as"), self.parameter("v").unwrap_or("v1")) {
            (None, _) => Form::Whole,
            (Some("Table"), "v1" | "v1beta1") if is_meta => Form::Table,
            (Some("PartialObjectMetadata" | "PartialObjectMetadataList"), "v1") if is_meta => Form::Metadata,
            (Some("APIGroupDiscoveryList"), "v2") if self.parameter("g") == Some("apidiscovery.k8s.io") => {
                Form::Aggregated
            }
            _ => Form::Unknown,
        }
    }

    /// The encoding in which this can be served.
    fn serve(&self, about: About, form: Form) -> Option<Encoding> {
        self.meant(about).find(|encoding| match (about, form) {
            (_, Form::Unknown) => false,
            (About::Objects { custom }, form) => match (encoding, form) {
                (_, Form::Aggregated) | (Encoding::Protobuf, Form::Table) => false,
                (Encoding::Protobuf, Form::Whole) => !custom,
                _ => true,
            },
            // Here a group or a version is one that the whole does not have.
            (About::Discovery { .. }, Form::Whole) => self.parameters.is_empty(),
            (About::Discovery { .. }, form) => form == Form::Aggregated,
        })
    }

    /// The encoding of a refusal, whatever is refused: it is no watch, and no custom resource.
    fn refuse(&self, about: About) -> Option<Encoding> {
        self.meant(about).next()
    }

    /// The encodings that fit the range.
    fn meant(&self, about: About) -> impl Iterator<Item = Encoding> {
        let encodings = [Encoding::Json, Encoding::Yaml, Encoding::Protobuf];
        encodings.into_iter().filter(move |encoding| {
            let is_meant = match self.range {
                "*/*" => true,
                "application/*" => about.knows_ranges(),
                range => range == encoding.media_type(),
            };
            // The one stream that there is; YAML has none.
            let streams = self.stream == "watch" && *encoding != Encoding::Yaml;
            is_meant && (self.stream.is_empty() || streams)
        })
    }

    fn in_json(&self, form: Form) -> String {
        if form == Form::Aggregated {
            return routes::AGGREGATED.to_owned();
        }
        let mut accept = Encoding::Json.media_type().to_owned();
        for (name, value) in &self.parameters {
            accept += &format!(";{name}={value}");
        }
        accept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
    const TABLE: &str = "as=Table;v=v1;g=meta.k8s.io";

    fn answer(accept: &str, custom: bool) -> (Encoding, Option<String>) {
        let negotiated = Negotiated::of(accept, About::Objects { custom });
        (negotiated.answer, negotiated.accept)
    }

    #[test]
    fn the_best_clause_that_is_served_is_taken() {
        let json = || Some("application/json".to_owned());
        for (accept, custom, encoding, asked) in [
            ("*/*", false, Encoding::Json, json()),
            ("application/json", false, Encoding::Json, json()),
            (
                &format!("{PROTOBUF},application/json")[..],
                false,
                Encoding::Protobuf,
                json(),
            ),
            (
                &format!("{PROTOBUF},application/json"),
                true,
                Encoding::Json,
                json(),
            ),
            (
                &format!("application/json,{PROTOBUF}"),
                false,
                Encoding::Json,
                json(),
            ),
            (
                &format!("application/json;q=0.5, {PROTOBUF};q=0.8"),
                false,
                Encoding::Protobuf,
                json(),
            ),
            (&format!("*/*, {PROTOBUF}"), false, Encoding::Protobuf, json()),
            ("application/yaml", true, Encoding::Yaml, json()),
            ("application/yaml;stream=watch", true, Encoding::Json, None),
            ("application/json;stream=other", true, Encoding::Json, None),
            ("text/html", false, Encoding::Json, None),
            ("application/*", false, Encoding::Json, None),
            (PROTOBUF, true, Encoding::Json, None),
            (&format!("{PROTOBUF};{TABLE}"), false, Encoding::Json, None),
            (
                &format!("{PROTOBUF};{TABLE}, application/json;{TABLE}"),
                false,
                Encoding::Json,
                Some(format!("application/json;{TABLE}")),
            ),
            (
                &format!("{PROTOBUF};as=PartialObjectMetadata"),
                true,
                Encoding::Protobuf,
                Some("application/json;as=PartialObjectMetadata".into()),
            ),
            ("", false, Encoding::Json, None),
        ] {
            assert_eq!(answer(accept, custom), (encoding, asked), "{accept}");
        }
    }

    #[test]
    fn all_of_discovery_is_preferred_where_it_can_be_had() {
        let both = format!("application/json,{}", routes::AGGREGATED);
        let old = routes::AGGREGATED.replace("v2", "v2beta1");
        let [whole, all] = ["application/json", routes::AGGREGATED].map(Some);
        for (accept, aggregates, asked) in [
            (&both, true, all),
            (&both, false, whole),
            (&format!("{old},{both}"), true, all),
            (&format!("{old},application/json"), true, whole),
            (&old, true, None),
            (&"application/json;v=v1".to_owned(), true, None),
            (&"application/*".to_owned(), true, whole),
        ] {
            let about = About::Discovery {
                aggregates,
                routed: false,
            };
            assert_eq!(Negotiated::of(accept, about).accept.as_deref(), asked, "{accept}");
        }
    }

    #[test]
    fn a_refusal_has_no_other_form() {
        let of = |accept: &str, custom| {
            let about = About::Objects { custom };
            Negotiated::of(accept, about).refusal
        };
        let accept = format!("{PROTOBUF};as=PartialObjectMetadata");
        assert_eq!(of(&accept, false), Encoding::Json);
        for (accept, encoding) in [
            (PROTOBUF, Encoding::Protobuf),
            ("application/yaml", Encoding::Yaml),
        ] {
            assert_eq!(of(accept, false), encoding);
            assert_eq!(of(accept, true), encoding);
        }
    }
}
