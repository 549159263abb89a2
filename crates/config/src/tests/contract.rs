//! The contract's own example means what the contract says, and every value in it is
//! the default unless it says otherwise.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use consort_core::agent::Agent;
use consort_core::catalog::{CancelClass, EffectClass, ModelInfo, Permission, Price, ToolInfo};
use consort_core::chat::Rules;
use consort_core::draft::{Draft, Ensemble};
use consort_core::model_options::{ModelOptions, ReasoningEffort};
use consort_core::owner::Owner;
use consort_core::reach::{Destination, Reach};
use consort_core::schema::Schema;
use consort_core::spec::{OnTimeout, OnTruncated, Review, ReviewRule, Workflow};
use consort_http::headers::Headers;
use consort_models::openai::Api;
use consort_models::{BodyShape, Extra, Options, Provider};
use consort_net::network;
use consort_net::transport::Address;
use consort_runtime::limits::{MAX_CONCURRENCY, Rate};
use consort_server::access::{Key, Scope, Sees};
use consort_tools::mcp::{ServerOptions, Traits, Transport};
use consort_tools::{HttpEndpoint, HttpMethod, WebSearchOptions};
use serde_json::json;

use super::{CONTRACT, SECRET, parse};
use crate::Config;
use crate::chat::Chat;
use crate::ensemble::{Share, ShareKind, Template};
use crate::http_tools::HttpTool;
use crate::models::Model;
use crate::network::Network;
use crate::server::Server;
use crate::tools::{Builtin, Tools};

fn secret() -> Option<String> {
    Some(SECRET.to_owned())
}

fn at(url: &str, model: &str) -> Options {
    Options::new(url, model)
}

fn a_minute(count: u32) -> Option<Rate> {
    NonZeroU32::new(count).map(|requests| Rate { requests, per: Duration::from_secs(60) })
}

fn server(default: Server) -> Server {
    let mut sha256 = [0; 32];
    for (byte, pair) in sha256.iter_mut().zip(HASH.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    }
    Server {
        on_timeout: Some(OnTimeout::Continue),
        workspace: Some("home/./workspace".into()),
        trace_dir: Some("home/./traces".into()),
        api_keys: vec![Key {
            name: "ci".to_owned(),
            sha256,
            scopes: vec![Scope::Read, Scope::Run],
            owner: Owner::named("ci").unwrap(),
            sees: Sees::Own,
        }],
        ..default
    }
}

const HASH: &str = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae";

fn model_info(alias: &str, model: &str) -> ModelInfo {
    ModelInfo { model: model.to_owned(), ..ModelInfo::new(alias, "anthropic") }
}

fn models() -> Vec<Model> {
    let price = Price { input: 3_000_000_000, output: 15_000_000_000, cached_input: 300_000_000 };
    let fallback = vec!["haiku".to_owned()];
    let sonnet = ModelInfo { fallback, price: Some(price), ..model_info("sonnet", "claude-sonnet-4-5") };
    let haiku = Model {
        api: Api::Chat,
        info: Arc::new(ModelInfo { native_schemas: true, ..model_info("haiku", "claude-haiku-4-5") }),
        provider: Provider::Anthropic,
        options: Options { timeout: Duration::from_secs(120), ..at("https://api.anthropic.com", "claude-haiku-4-5") },
        max_concurrency: MAX_CONCURRENCY,
        rate: None,
    };
    let sonnet = Model {
        info: Arc::new(sonnet),
        options: Options { api_key: secret(), ..at("https://models.example.org", "claude-sonnet-4-5") },
        rate: a_minute(600),
        ..haiku.clone()
    };
    vec![sonnet, haiku.clone(), gpt(haiku)]
}

fn gpt(default: Model) -> Model {
    let options = ModelOptions {
        temperature: Some(0.2),
        top_p: Some(0.9),
        seed: Some(7),
        reasoning_effort: Some(ReasoningEffort::Medium),
    };
    let model = "gpt-5-mini".to_owned();
    let info = ModelInfo { model, options, native_schemas: true, ..ModelInfo::new("gpt", "openai") };
    let mut headers = Headers::default();
    headers.set("x-team", "a", &[]).unwrap();
    let mut extra = Extra::default();
    extra.set(BodyShape::Chat, "service_tier", json!("flex")).unwrap();
    Model {
        info: Arc::new(info),
        provider: Provider::OpenAi,
        options: Options { headers, extra, ..at("https://api.openai.com/v1", "gpt-5-mini") },
        ..default
    }
}

fn tools(default: Tools) -> Tools {
    let schema = json!({ "type": "object", "properties": { "item": { "type": "string" } }, "required": ["item"] });
    let check_stock = ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::Network,
        effect: EffectClass::Once,
        lock: Some("stock".to_owned()),
        cancel: CancelClass::Finish,
        reach: Reach::to(Destination::Configured("127.0.0.1".to_owned())),
        ..ToolInfo::new("check_stock", "Checks the stock of an item")
    };
    let stock = HttpEndpoint::envelope("http://127.0.0.1:9001/stock").unwrap();
    Tools {
        builtin: vec![
            Builtin::Calculator,
            Builtin::Datetime,
            Builtin::Json,
            Builtin::HttpFetch,
            Builtin::WebSearch,
            Builtin::ReadFile,
            Builtin::ListFiles,
            Builtin::WriteFile,
            Builtin::EditFile,
            Builtin::HumanInput,
        ],
        run_command: None,
        web_search: Some(WebSearchOptions {
            url: "https://search.example.org/search?q={query}".to_owned(),
            api_key: secret(),
        }),
        http: vec![HttpTool { info: Arc::new(check_stock), endpoint: stock }, get_issue()],
        ..default
    }
}

fn get_issue() -> HttpTool {
    let url = "https://api.example.com/repos/{owner}/{repo}/issues/{number}";
    let mut headers = Headers::default();
    headers.set("authorization", &format!("Bearer {SECRET}"), &[]).unwrap();
    let mut endpoint = HttpEndpoint::plain(HttpMethod::Get, url).unwrap().with_headers(headers);
    endpoint.add_query("state", "{state}").unwrap();
    let scalar = json!({ "type": ["string", "number", "boolean"] });
    let schema = json!({ "type": "object", "required": ["number", "owner", "repo"],
        "properties": { "owner": scalar, "repo": scalar, "number": scalar, "state": scalar } });
    let info = ToolInfo {
        schema: Schema::new(schema),
        permission: Permission::Network,
        reach: Reach::to(Destination::Configured("api.example.com".to_owned())),
        ..ToolInfo::new("get_issue", "Reads an issue")
    };
    HttpTool { info: Arc::new(info), endpoint }
}

fn mcp() -> ServerOptions {
    let append_line = Traits {
        effect: Some(EffectClass::Once),
        permission: Some(Permission::Network),
        parallel_safe: Some(false),
        lock: Some("lines".to_owned()),
    };
    ServerOptions {
        name: "files".to_owned(),
        transport: Transport::Command {
            command: "python3".to_owned(),
            args: vec!["server.py".to_owned()],
            env: BTreeMap::new(),
            folder: "home/".into(),
        },
        timeout: Duration::from_secs(60),
        tools: BTreeMap::from([("append_line".to_owned(), append_line)]),
    }
}

fn template() -> Template {
    let agent = Agent {
        role: "Researcher".to_owned(),
        goal: "Find out".to_owned(),
        background: "Curious".to_owned(),
        allow_delegation: false,
    };
    let task = Draft {
        name: Some("researcher".to_owned()),
        description: "Research {topic} in {year}".to_owned(),
        expected_output: Some("A report".to_owned()),
        additional_context: Some("Cite sources".to_owned()),
        agent: Some(agent),
        model: Some("sonnet".to_owned()),
        tools: vec!["calculator".to_owned()],
        max_iterations: Some(25),
        on_truncated: OnTruncated::Accept,
        output_schema: Some(json!({ "type": "object" })),
        review: Some(ReviewRule::Required),
        review_timeout_ms: Some(300_000),
        ..Draft::default()
    };
    let ensemble = Ensemble {
        name: "research".to_owned(),
        review: Review { on_timeout: Some(OnTimeout::Continue), ..Review::default() },
        model: Some("sonnet".to_owned()),
        workflow: Some(Workflow::Sequential),
        max_delegation_depth: Some(3),
        inputs: BTreeMap::from([("year".to_owned(), "2026".into())]),
        tasks: vec![task],
        ..Ensemble::default()
    };
    let share = Share {
        kind: ShareKind::Tool,
        name: "check-inventory".to_owned(),
        target: "check_stock".to_owned(),
        tags: vec!["food".to_owned(), "stock".to_owned()],
        owner: Owner::local(),
    };
    Template { ensemble, rate: a_minute(60), shares: vec![share] }
}

#[test]
fn the_example_of_the_contract_means_what_it_says_and_shows_the_defaults() {
    let default = parse("", Path::new("home")).unwrap();
    let pantry = ("pantry".to_owned(), Address { url: "ws://10.0.0.7:7329/ws".to_owned(), key: None });
    let options = network::Options {
        name: "kitchen".to_owned(),
        realm: Some("downtown".to_owned()),
        peers: vec![pantry],
        ..default.network.options
    };
    let embeddings = Options { api_key: secret(), ..at("https://embed.example.org/v1", "embed") };
    let rules = Rules { model: Some("sonnet".to_owned()), ..default.chat.rules };
    let expected = Config {
        server: server(default.server),
        store: "home/./consort-data".into(),
        cluster: default.cluster,
        models: models(),
        tools: tools(default.tools),
        mcp: vec![mcp()],
        template: Some(template()),
        network: Network { options, ..default.network },
        chat: Chat { rules, embeddings: Some(embeddings), ..default.chat },
        run_limits: default.run_limits,
        schedules: Vec::new(),
        webhooks: Vec::new(),
        hooks: Vec::new(),
        openai: default.openai,
        telemetry: None,
        sources: default.sources,
    };
    assert_eq!(parse(CONTRACT, Path::new("home")), Ok(expected));
}

#[test]
fn secrets_are_not_in_debug_but_can_be_had() {
    let config = parse(CONTRACT, Path::new("home")).unwrap();
    assert!(!format!("{config:?}").contains(SECRET));
    assert_eq!(config.models[0].options.api_key.as_deref(), Some(SECRET));
}
