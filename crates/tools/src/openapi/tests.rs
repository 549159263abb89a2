//! Documents of every kind, harmless and hostile, and calls of what they offer.

use std::sync::Mutex;

use axum::Router;
use axum::http::{HeaderMap, Method, Uri};
use consort_core::catalog::EffectClass;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::*;
use crate::{Answer, HttpTool, Invocation, Tool, http_client};

fn options() -> ApiOptions {
    ApiOptions {
        name: "shop".to_owned(),
        include: Vec::new(),
        url: None,
        headers: Headers::default(),
        auth: None,
        timeout: Duration::from_secs(120),
    }
}

fn document(paths: Value) -> Value {
    json!({ "openapi": "3.0.3", "servers": [{ "url": "http://127.0.0.1:1/v1/" }], "paths": paths })
}

fn read(document: &Value) -> Result<ApiTools, OpenApiError> {
    api_tools(document.to_string().as_bytes(), None, &options())
}

fn only(paths: Value) -> ApiTool {
    let offered = read(&document(paths)).unwrap();
    assert_eq!((offered.tools.len(), offered.left_out.as_slice()), (1, &[][..]));
    offered.tools[0].clone()
}

fn names(tools: &ApiTools) -> Vec<&str> {
    tools.tools.iter().map(|tool| tool.info.name.as_str()).collect()
}

/// Returns one operation, at `GET /x`.
fn get(operation: Value) -> Value {
    json!({ "/x": { "get": operation } })
}

#[test]
fn every_operation_is_a_tool_named_after_its_operation_id_with_the_effect_of_its_method() {
    let paths = json!({
        "/items": { "get": { "operationId": "items/list" }, "post": { "operationId": "items.add", "summary": "Adds" } },
        "/items/{id}": {
            "put": { "operationId": "replace-item" }, "delete": { "operationId": "drop" },
            "get": { "summary": "Reads", "description": "one item" }, "head": { "operationId": "no" }
        }
    });
    let offered = read(&document(paths)).unwrap();
    let told: Vec<_> = offered.tools.iter().map(|tool| (tool.info.name.as_str(), tool.info.effect)).collect();
    let read = EffectClass::Read;
    let idempotent = EffectClass::Idempotent;
    let once = EffectClass::Once;
    let mut expected = [
        ("shop_items_list", read),
        ("shop_items_add", once),
        ("shop_get_items_id", read),
        ("shop_replace-item", idempotent),
        ("shop_drop", idempotent),
    ];
    let mut told = told;
    told.sort_unstable_by_key(|(name, _)| *name);
    expected.sort_unstable_by_key(|(name, _)| *name);
    assert_eq!(told, expected);
    let about = |name: &str| offered.tools.iter().find(|tool| tool.info.name == name).unwrap().info.description.clone();
    assert_eq!(about("shop_get_items_id"), "Reads\none item");
    assert_eq!(about("shop_drop"), "DELETE /items/{id}");
}

#[test]
fn parameters_and_the_properties_of_the_body_stand_side_by_side() {
    let tool = only(json!({ "/i/{id}": {
        "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } },
            { "name": "dry", "in": "query", "schema": { "type": "string" } }],
        "post": { "operationId": "a",
            "parameters": [{ "name": "dry", "in": "query", "required": true, "description": "no effect",
                "schema": { "type": "boolean" } },
                { "name": "Authorization", "in": "header", "schema": {} }],
            "requestBody": { "required": true, "content": { "application/json": { "schema": {
                "type": "object", "required": ["name", "made"], "properties": {
                    "name": { "type": "string", "nullable": true, "example": "x" },
                    "made": { "type": "string", "readOnly": true },
                    "price": { "type": "number", "minimum": 0, "exclusiveMinimum": true } } } } } } } } }));
    let expected = json!({
        "type": "object", "additionalProperties": false, "required": ["id", "dry", "name"],
        "properties": {
            "id": { "type": "integer" },
            "dry": { "type": "boolean", "description": "no effect" },
            "name": { "type": ["string", "null"] },
            "price": { "type": "number", "exclusiveMinimum": 0 }
        }
    });
    assert_eq!(*tool.info.schema.json(), expected);
}

#[test]
fn any_other_body_or_one_whose_names_clash_is_the_argument_body() {
    let body = |schema: Value, parameters: Value| {
        let content = json!({ "application/json": { "schema": schema } });
        let operation = json!({ "operationId": "a", "parameters": parameters, "requestBody": { "content": content } });
        let tool = only(json!({ "/x": { "post": operation } }));
        tool.info.schema.json()["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let id = json!([{ "name": "id", "in": "query", "schema": {} }]);
    let object = json!({ "type": "object", "properties": { "id": {}, "b": {} } });
    assert_eq!(body(json!({ "type": "array", "items": {} }), json!([])), "body");
    assert_eq!(body(json!({ "type": "object" }), json!([])), "body");
    assert_eq!(body(json!({ "oneOf": [object] }), json!([])), "body");
    assert_eq!(body(object.clone(), json!([])), "id b");
    assert_eq!(body(object, id), "id body");
    let named = json!([{ "name": "body", "in": "query", "schema": {} }]);
    assert_eq!(body(json!({ "type": "string" }), named), "body request_body");
}

#[test]
fn references_are_followed_even_to_themselves() {
    let mut document = document(json!({ "/x": { "post": { "operationId": "a",
        "parameters": [{ "$ref": "#/components/parameters/P" }],
        "requestBody": { "$ref": "#/components/requestBodies/B" } } } }));
    document["components"] = json!({
        "parameters": { "P": { "name": "p", "in": "query", "schema": { "$ref": "#/components/schemas/S" } } },
        "requestBodies": { "B": { "content": { "application/json": { "schema": {
            "$ref": "#/components/schemas/Node" } } } } },
        "schemas": { "S": { "type": "string", "enum": ["a", "b"] }, "Node": { "type": "object", "properties": {
            "name": { "type": "string" },
            "children": { "type": "array", "items": { "$ref": "#/components/schemas/Node" } } } } }
    });
    let schema = read(&document).unwrap().tools[0].info.schema.clone();
    assert!(schema.violations(&json!({ "p": "a", "name": "n", "children": [{ "children": [] }] })).is_empty());
    assert!(!schema.violations(&json!({ "p": "c" })).is_empty());
    assert!(!schema.violations(&json!({ "children": [{ "children": [{ "name": 7 }] }] })).is_empty());
}

#[test]
fn include_chooses_by_operation_id_or_tag_and_what_chooses_nothing_is_told() {
    let tagged = |id: &str, tag: &str| json!({ "get": { "operationId": id, "tags": [tag] } });
    let paths = json!({ "/a": tagged("issues/list", "issues"), "/b": tagged("issues/get", "issues"),
        "/c": tagged("repos/list", "repos") });
    let choose = |patterns: &[&str]| {
        let include = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
        api_tools(document(paths.clone()).to_string().as_bytes(), None, &ApiOptions { include, ..options() })
    };
    for (patterns, expected) in [
        (&["issues/*"][..], &["shop_issues_list", "shop_issues_get"][..]),
        (&["*/list"], &["shop_issues_list", "shop_repos_list"]),
        (&["repos"], &["shop_repos_list"]),
        (&["i*s/*t", "re*"], &["shop_issues_list", "shop_issues_get", "shop_repos_list"]),
        (&[], &["shop_issues_list", "shop_issues_get", "shop_repos_list"]),
    ] {
        assert_eq!(names(&choose(patterns).unwrap()), expected, "{patterns:?}");
    }
    let wrong = choose(&["repos", "issue"]).unwrap_err();
    assert_eq!(wrong.key(), "include[1]");
    let told = "matches no operationId and no tag of the document; did you mean `issues`?";
    assert_eq!(wrong.to_string(), told);
    assert!(choose(&["zebra*"]).unwrap_err().to_string().ends_with("its tags are issues, repos"));
}

#[test]
fn more_than_two_hundred_operations_are_refused_unless_they_are_chosen_from() {
    let paths: serde_json::Map<String, Value> = (0..=OPERATIONS_MAX)
        .map(|n| (format!("/{n}"), json!({ "get": { "operationId": format!("op{n}") } })))
        .collect();
    let document = document(Value::Object(paths));
    let told = read(&document).unwrap_err().to_string();
    assert_eq!(told, "has 201 operations; at most 200 are offered: choose with `include`");
    let include = vec!["op1*".to_owned()];
    let chosen = api_tools(document.to_string().as_bytes(), None, &ApiOptions { include, ..options() }).unwrap();
    assert_eq!(chosen.tools.len(), 111);
}

#[test]
fn documents_that_are_none_are_told_from_each_other() {
    for (text, part) in [
        ("", "is not JSON"),
        ("openapi: 3.0.0\n", "looks like YAML"),
        ("[]", "not an OpenAPI 3 document"),
        (r#"{"openapi": 3}"#, "not an OpenAPI 3 document"),
        (r#"{"swagger": "2.0"}"#, "Swagger 2"),
        (r#"{"openapi": "3.1.0", "servers": [{"url": "http://h"}]}"#, "has no operations"),
        (r#"{"openapi": "3.1.0"}"#, "does not say where the API is"),
        (r#"{"openapi": "3.1.0", "servers": [{"url": "/v1"}]}"#, "does not say where the API is"),
        (r#"{"openapi": "3.1.0", "servers": [{"url": "file:///etc"}]}"#, "must be an http"),
    ] {
        let told = api_tools(text.as_bytes(), None, &options()).unwrap_err().to_string();
        assert!(told.contains(part), "{text}: {told}");
    }
}

#[test]
fn what_cannot_be_offered_is_left_out_with_the_reason_and_the_rest_is_there() {
    let deep = (0..100).fold(json!({ "type": "string" }), |inner, _| json!({ "type": "array", "items": inner }));
    let wide: Vec<Value> = (0..20_000).map(|n| json!(format!("value {n}"))).collect();
    let query = |schema: Value| json!({ "operationId": "bad", "parameters": [{ "name": "q", "in": "query", "schema": schema }] });
    for (operation, part) in [
        (query(deep), "levels deep"),
        (query(json!({ "enum": wide })), "longer than"),
        (query(json!({ "type": "string", "pattern": "(a{1000}){1000}" })), ""),
        (query(json!({ "$ref": "other.json#/a" })), "another document"),
        (query(json!({ "$ref": "#/nowhere" })), "not there"),
        (json!({ "operationId": "bad", "parameters": [{ "$ref": "#/paths/~1x/get/parameters/0" }] }), "circles"),
        (
            json!({ "operationId": "bad", "parameters": [{ "name": "Host", "in": "header" }] }),
            "sets this header itself",
        ),
        (json!({ "operationId": "b".repeat(200) }), "1 to 128 characters"),
        (json!({ "operationId": "bad", "servers": [{ "url": "http://evil.example/" }] }), "server of its own"),
        (
            json!({ "operationId": "bad", "requestBody": { "required": true, "content": { "multipart/form-data": {} } } }),
            "multipart",
        ),
    ] {
        let mut paths = get(operation);
        paths["/ok"] = json!({ "get": { "operationId": "good" } });
        let offered = read(&document(paths)).unwrap();
        assert_eq!(names(&offered), ["shop_good"], "{part}");
        assert!(offered.left_out[0].contains(part), "{:?}", offered.left_out);
    }
    let twice = json!({ "/a": { "get": { "operationId": "a/b" } }, "/b": { "get": { "operationId": "a.b" } } });
    let offered = read(&document(twice)).unwrap();
    assert_eq!((offered.tools.len(), offered.left_out.len()), (1, 1));
}

#[test]
fn a_fetched_document_sends_nothing_to_another_host_unless_the_file_names_it() {
    let from = Url::parse("https://docs.example/openapi.json").unwrap();
    let document = document(get(json!({ "operationId": "a" })));
    let read = |url: Option<&str>| {
        let options = ApiOptions { url: url.map(str::to_owned), ..options() };
        api_tools(document.to_string().as_bytes(), Some(&from), &options)
    };
    let refused = read(None).unwrap_err();
    assert_eq!(refused.key(), "url");
    assert!(refused.to_string().contains("`docs.example`") && refused.to_string().contains("`127.0.0.1`"), "{refused}");
    let tools = read(Some("http://127.0.0.1:1/v1")).unwrap();
    assert_eq!(tools.tools[0].endpoint.host().as_deref(), Some("127.0.0.1"));
    let mut relative = document.clone();
    relative["servers"] = json!([{ "url": "/{stage}", "variables": { "stage": { "default": "v2" } } }]);
    let tools = api_tools(relative.to_string().as_bytes(), Some(&from), &options()).unwrap();
    assert_eq!(tools.tools[0].endpoint.host().as_deref(), Some("docs.example"));
}

#[test]
fn made_up_documents_are_refused_or_give_tools() {
    let examples = [
        document(get(json!({ "operationId": "a", "parameters": [{ "name": "q", "in": "query", "schema": {} }] }))),
        document(json!({ "/x/{id}": { "post": { "tags": ["t"], "requestBody": { "content": { "application/json": {
            "schema": { "type": "object", "properties": { "a": { "$ref": "#/paths" } } } } } } } } })),
    ];
    let examples = examples.map(|example| example.to_string());
    let examples: Vec<&str> = examples.iter().map(String::as_str).collect();
    consort_fuzz::text(&examples, |text| {
        if let Err(error) = api_tools(text.as_bytes(), None, &options()) {
            assert!(!error.to_string().is_empty());
        }
    });
}

/// A request: its method, address, headers and body.
type Sent = (Method, String, HeaderMap, String);

/// An API that writes down what it is sent.
struct Api {
    port: u16,
    got: Arc<Mutex<Vec<Sent>>>,
    server: JoinHandle<()>,
}

impl Drop for Api {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Api {
    /// Starts it; every path answers with this text.
    async fn replying(text: String) -> Api {
        let got = Arc::<Mutex<Vec<_>>>::default();
        let heard = got.clone();
        let reply = move |method: Method, uri: Uri, headers: HeaderMap, body: String| async move {
            heard.lock().unwrap().push((method, uri.to_string(), headers, body));
            text
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = Router::new().fallback(reply);
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Api { port, got, server }
    }

    async fn call(&self, paths: Value, args: Value) -> (String, HeaderMap, String) {
        let mut document = document(paths);
        document["servers"] = json!([{ "url": format!("http://127.0.0.1:{}/v1", self.port) }]);
        let mut headers = Headers::default();
        headers.set("x-key", "hush-hush", &[]).unwrap();
        let tools = api_tools(document.to_string().as_bytes(), None, &ApiOptions { headers, ..options() }).unwrap();
        let ApiTool { info, endpoint } = tools.tools[0].clone();
        assert_eq!(info.schema.violations(&args), Vec::<String>::new());
        let answer = HttpTool::new(http_client().unwrap(), info, endpoint).call(Invocation::test(args)).await;
        assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
        let (_, path, headers, body) = self.got.lock().unwrap().remove(0);
        assert_eq!(headers.get("x-key").unwrap(), "hush-hush");
        (path, headers, body)
    }
}

#[tokio::test]
async fn a_call_puts_every_argument_where_the_document_says() {
    let api = Api::replying("ok".to_owned()).await;
    let query = |name: &str, more: Value| {
        let mut parameter = json!({ "name": name, "in": "query", "schema": {} });
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parameter
    };
    let paths = json!({ "/i/{item.id}/x": { "put": { "operationId": "a",
        "parameters": [query("each", json!({})), query("commas", json!({ "explode": false })),
            query("deep", json!({ "style": "deepObject" })), query("none", json!({})),
            query("f[x]", json!({})),
            { "name": "X-Team", "in": "header", "schema": {} }, { "name": "sid", "in": "cookie", "schema": {} }],
        "requestBody": { "content": { "application/json": { "schema": { "properties": { "a": {}, "b": {} } } } } } } } });
    let args = json!({ "item.id": "a/b", "each": [1, 2], "commas": ["x", "y"], "deep": { "k": "v w" }, "none": null,
        "f[x]": "&", "X-Team": "red", "sid": "1;2", "a": null, "b": [true] });
    let (path, headers, body) = api.call(paths, args).await;
    let (path, query) = path.split_once('?').unwrap();
    let mut query: Vec<&str> = query.split('&').collect();
    query.sort_unstable();
    assert_eq!(path, "/v1/i/a%2Fb/x");
    assert_eq!(query, ["commas=x%2Cy", "deep%5Bk%5D=v%20w", "each=1", "each=2", "f%5Bx%5D=%26"]);
    assert_eq!(headers.get("x-team").unwrap(), "red");
    assert_eq!(headers.get("cookie").unwrap(), "sid=1%3B2");
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), json!({ "a": null, "b": [true] }));
}

#[tokio::test]
async fn bodies_are_sent_as_json_as_a_form_or_as_text() {
    let api = Api::replying("ok".to_owned()).await;
    let post = |kind: &str, schema: Value| {
        let content = json!({ kind: { "schema": schema } });
        json!({ "/x": { "post": { "operationId": "a", "requestBody": { "required": true, "content": content } } } })
    };
    let fields = json!({ "type": "object", "properties": { "a": {}, "b": {} } });
    for (kind, schema, args, expected) in [
        ("application/json", json!({ "type": "array" }), json!({ "body": [1] }), "[1]"),
        ("application/vnd.api+json", fields.clone(), json!({}), "{}"),
        ("application/x-www-form-urlencoded", fields, json!({ "a": "x y", "b": { "c": 1 } }), "a=x%20y&b%5Bc%5D=1"),
        ("text/csv", json!({}), json!({ "body": "a,b" }), "a,b"),
    ] {
        let (_, headers, body) = api.call(post(kind, schema), args).await;
        assert_eq!(body, expected);
        let sent = if kind.ends_with("json") { "application/json" } else { kind };
        assert_eq!(headers.get("content-type").unwrap(), sent);
    }
}

#[tokio::test]
async fn a_document_is_fetched_without_the_headers_of_the_api() {
    let mut described = document(get(json!({ "operationId": "a" })));
    described["servers"] = json!([]);
    let api = Api::replying(described.to_string()).await;
    let url = Url::parse(&format!("http://127.0.0.1:{}/openapi.json", api.port)).unwrap();
    let mut headers = Headers::default();
    headers.set("x-key", "hush-hush", &[]).unwrap();
    let options = ApiOptions { headers, ..options() };
    let fetched = tokio::task::spawn_blocking({
        let url = url.clone();
        move || fetch(&url, &options)
    });
    assert_eq!(names(&fetched.await.unwrap().unwrap()), ["shop_a"]);
    assert!(!api.got.lock().unwrap().remove(0).2.contains_key("x-key"));
    drop(api);
    let gone = Url::parse("http://127.0.0.1:1/openapi.json").unwrap();
    let away = tokio::task::spawn_blocking(move || fetch(&gone, &super::tests::options())).await.unwrap().unwrap_err();
    assert!(matches!(&away, OpenApiError::Away(why) if why.contains("cannot be fetched")), "{away:?}");
}
