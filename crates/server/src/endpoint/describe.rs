//! The parts that endpoints share in the description: groups, parameters,
//! headers.

use serde_json::{Map, Value, json};

use super::Tag;

/// A parameter of requests that is described once.
#[derive(Clone, Copy)]
pub(crate) struct Parameter {
    pub(super) component: &'static str,
    name: &'static str,
    place: &'static str,
    required: bool,
    description: &'static str,
    schema: fn() -> Value,
}

/// A header of answers.
#[derive(Clone, Copy)]
pub(crate) struct Header {
    pub(super) name: &'static str,
    description: &'static str,
}

pub(crate) const IDEMPOTENCY_KEY: Parameter = Parameter {
    description: "The same request sent again with the same key is carried out once.",
    schema: || json!({ "type": "string", "minLength": 1, "maxLength": crate::once::KEY_MAX }),
    ..Parameter::header("IdempotencyKey", "Idempotency-Key")
};

pub(crate) const PREFER: Parameter = Parameter {
    description: "`wait=N`: answer when the run has ended, after N seconds at most.",
    ..Parameter::header("Prefer", "Prefer")
};

pub(crate) const LAST_EVENT_ID: Parameter = Parameter {
    description: "Beats `from`: what follows this event.",
    schema: || json!({ "type": "integer", "minimum": 0 }),
    ..Parameter::header("LastEventId", "Last-Event-ID")
};

pub(crate) const FROM: Parameter = Parameter {
    component: "From",
    name: "from",
    place: "query",
    required: false,
    description: "The first event wanted.",
    schema: || json!({ "type": "integer", "minimum": 0, "default": 0 }),
};

pub(crate) const TRACEPARENT: Parameter = Parameter {
    description: "The trace the run belongs to, as W3C trace context.",
    ..Parameter::header("Traceparent", "traceparent")
};

pub(crate) const IF_MATCH: Parameter = Parameter {
    description: "The version that was changed, as its `ETag` says it; `*` is any.",
    ..Parameter::header("IfMatch", "If-Match")
};

pub(crate) const NEEDED_IF_MATCH: Parameter = Parameter { component: "NeededIfMatch", required: true, ..IF_MATCH };

pub(crate) const CONTENT_DISPOSITION: Parameter = Parameter {
    description: "The name of a file that is sent: `attachment; filename=\"plan.pdf\"`.",
    ..Parameter::header("ContentDisposition", "Content-Disposition")
};

/// Every parameter that is described once.
pub(super) const PARAMETERS: [Parameter; 8] =
    [IDEMPOTENCY_KEY, PREFER, LAST_EVENT_ID, FROM, TRACEPARENT, IF_MATCH, NEEDED_IF_MATCH, CONTENT_DISPOSITION];

pub(crate) const LOCATION: Header = Header { name: "Location", description: "Where it is." };
pub(crate) const ETAG: Header = Header { name: "ETag", description: "Which version it is." };

/// Every header that is described.
pub(super) const HEADERS: [Header; 2] = [LOCATION, ETAG];

/// Returns the headers that endpoints read.
pub(crate) fn header_parameters() -> impl Iterator<Item = &'static str> {
    PARAMETERS.iter().filter(|parameter| parameter.place == "header").map(|parameter| parameter.name)
}

fn text() -> Value {
    json!({ "type": "string" })
}

impl Parameter {
    /// Returns a header that may be left out and holds any text, still without a description.
    const fn header(component: &'static str, name: &'static str) -> Parameter {
        Parameter { component, name, place: "header", required: false, description: "", schema: text }
    }

    pub(super) fn described(&self) -> Value {
        json!({ "name": self.name, "in": self.place, "required": self.required, "schema": (self.schema)(),
            "description": self.description })
    }

    pub(super) fn reference(&self) -> Value {
        json!({ "$ref": format!("#/components/parameters/{}", self.component) })
    }
}

impl Header {
    pub(super) fn described(&self) -> Value {
        json!({ "required": true, "description": self.description, "schema": text() })
    }

    pub(super) fn reference(&self) -> Value {
        json!({ "$ref": format!("#/components/headers/{}", self.name) })
    }
}

impl Tag {
    pub(super) const ALL: [Tag; 14] = [
        Tag::Runs,
        Tag::Reviews,
        Tag::Threads,
        Tag::OpenAi,
        Tag::A2a,
        Tag::Collections,
        Tag::Workflows,
        Tag::Schedules,
        Tag::Webhooks,
        Tag::Tools,
        Tag::Network,
        Tag::Memory,
        Tag::Files,
        Tag::Server,
    ];

    /// Returns its name and its description.
    pub(super) fn words(self) -> (&'static str, &'static str) {
        match self {
            Tag::Runs => ("runs", "Start runs, watch and steer them."),
            Tag::Reviews => ("reviews", "Decisions that runs and chats wait for."),
            Tag::Threads => ("threads", "Chats."),
            Tag::OpenAi => ("openai", "The same as models of OpenAI's API, for its clients."),
            Tag::A2a => ("a2a", "The same as an agent of the A2A protocol, for other agents."),
            Tag::Collections => ("collections", "Documents to be searched."),
            Tag::Workflows => ("workflows", "Task graphs that are saved."),
            Tag::Schedules => ("schedules", "Runs that begin when they are due."),
            Tag::Webhooks => ("webhooks", "Other programs that are told of runs."),
            Tag::Tools => ("tools", "Models and tools."),
            Tag::Network => ("network", "Other ensembles."),
            Tag::Memory => ("memory", "Texts that runs remember."),
            Tag::Files => ("files", "Traces and the workspace."),
            Tag::Server => ("server", "Health, metrics, this description, the socket."),
        }
    }

    pub(super) fn described(self) -> Value {
        let (name, description) = self.words();
        json!({ "name": name, "description": description })
    }
}

/// Returns the parameters in the path of an endpoint, with their descriptions.
pub(super) fn path_parameters(path: &str) -> Vec<Value> {
    let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    names.map(path_parameter).collect()
}

fn path_parameter(name: &str) -> Value {
    let (description, schema) = match name {
        "id" => (Some("Which one."), text()),
        "version" => (None, json!({ "type": "integer", "minimum": 1 })),
        _ => (None, text()),
    };
    let mut described = Map::new();
    described.insert("name".to_owned(), name.into());
    described.insert("in".to_owned(), "path".into());
    described.insert("required".to_owned(), true.into());
    described.insert("schema".to_owned(), schema);
    described.extend(description.map(|text| ("description".to_owned(), text.into())));
    described.into()
}
