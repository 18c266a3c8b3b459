//! What a row of the table is made of: requests in an order, with what they take from one another.
//!
//! In paths and bodies, `{name}` stands for what an earlier request saved under that name; `{ns}` for the namespace of
//! the case.

use serde_json::Value;

/// A namespace of its own and what is asked in it, in order.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
}

pub(crate) enum Step {
    /// One request.
    Ask(Ask),
    /// Requests that only read, all at once.
    Together(Vec<Ask>),
    /// Watches that run until they end, while other requests follow one another.
    Watch { watches: Vec<Ask>, meanwhile: Vec<Ask> },
    /// The server loses its history: what it answers from is what is there now.
    Forget,
    /// A request that is repeated until its answer has this code; not compared.
    Until(Ask, u16),
    /// A request that is repeated until its answer has this text at this place; not compared.
    UntilShown(Ask, &'static str, &'static str),
}

/// A request, and what is done with its answer.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) name: String,
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) body: Option<String>,
    pub(crate) content_type: &'static str,
    pub(crate) accept: &'static str,
    /// As whom an administrator asks: a user, and groups.
    pub(crate) user: Option<(&'static str, Vec<&'static str>)>,
    pub(crate) saved: Vec<(&'static str, &'static str)>,
    pub(crate) only: Vec<&'static str>,
}

impl Case {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            steps: Vec::new(),
        }
    }

    pub(crate) fn ask(mut self, ask: Ask) -> Self {
        self.steps.push(Step::Ask(ask));
        self
    }

    pub(crate) fn asks(mut self, asks: impl IntoIterator<Item = Ask>) -> Self {
        self.steps.extend(asks.into_iter().map(Step::Ask));
        self
    }

    pub(crate) fn together(mut self, asks: impl IntoIterator<Item = Ask>) -> Self {
        self.steps.push(Step::Together(asks.into_iter().collect()));
        self
    }

    pub(crate) fn watch(
        mut self,
        watches: impl IntoIterator<Item = Ask>,
        meanwhile: impl IntoIterator<Item = Ask>,
    ) -> Self {
        let (watches, meanwhile) = (watches.into_iter().collect(), meanwhile.into_iter().collect());
        self.steps.push(Step::Watch { watches, meanwhile });
        self
    }

    /// Loses the history before the saved version `newest`, in a case that runs when no other does.
    pub(crate) fn forget(mut self) -> Self {
        self.steps.push(Step::Forget);
        self
    }

    pub(crate) fn until(mut self, ask: Ask, code: u16) -> Self {
        self.steps.push(Step::Until(ask, code));
        self
    }

    pub(crate) fn until_shown(mut self, ask: Ask, pointer: &'static str, text: &'static str) -> Self {
        self.steps.push(Step::UntilShown(ask, pointer, text));
        self
    }
}

impl Ask {
    fn new(method: &'static str, path: &str) -> Self {
        Self {
            name: format!("{method} {path}"),
            method,
            path: path.to_owned(),
            body: None,
            content_type: "application/json",
            accept: "application/json",
            user: None,
            saved: Vec::new(),
            only: Vec::new(),
        }
    }

    fn with(mut self, body: &Value) -> Self {
        self.body = Some(body.to_string());
        self
    }

    /// What the request is called in the list of differences; by default the method and the path.
    pub(crate) fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// A body as it is, also one that is no JSON.
    pub(crate) fn text(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    pub(crate) fn content_type(mut self, content_type: &'static str) -> Self {
        self.content_type = content_type;
        self
    }

    pub(crate) fn accept(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    /// Asks as somebody else.
    pub(crate) fn impersonating(mut self, name: &'static str, groups: &[&'static str]) -> Self {
        self.user = Some((name, groups.to_vec()));
        self
    }

    /// Saves the text at a place of the answer's body.
    pub(crate) fn save(mut self, name: &'static str, pointer: &'static str) -> Self {
        self.saved.push((name, pointer));
        self
    }

    /// Saves the resource version of the object or list.
    pub(crate) fn save_version(self, name: &'static str) -> Self {
        self.save(name, "/metadata/resourceVersion")
    }

    /// Compares only these places of the body, beside the code: where a real server fills in a lot.
    pub(crate) fn only<const N: usize>(mut self, pointers: [&'static str; N]) -> Self {
        self.only = pointers.to_vec();
        self
    }
}

pub(crate) fn get(path: &str) -> Ask {
    Ask::new("GET", path)
}

pub(crate) fn post(path: &str, body: &Value) -> Ask {
    Ask::new("POST", path).with(body)
}

pub(crate) fn put(path: &str, body: &Value) -> Ask {
    Ask::new("PUT", path).with(body)
}

pub(crate) fn delete(path: &str) -> Ask {
    Ask::new("DELETE", path)
}

pub(crate) fn delete_with(path: &str, options: &Value) -> Ask {
    Ask::new("DELETE", path).with(options)
}

pub(crate) fn merge(path: &str, patch: &Value) -> Ask {
    Ask::new("PATCH", path)
        .with(patch)
        .content_type("application/merge-patch+json")
}

pub(crate) fn json_patch(path: &str, patch: &Value) -> Ask {
    Ask::new("PATCH", path)
        .with(patch)
        .content_type("application/json-patch+json")
}

pub(crate) fn strategic(path: &str, patch: &Value) -> Ask {
    Ask::new("PATCH", path)
        .with(patch)
        .content_type("application/strategic-merge-patch+json")
}

/// A request of any method.
pub(crate) fn any(method: &'static str, path: &str) -> Ask {
    Ask::new(method, path)
}
