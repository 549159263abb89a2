//! HTTP tools against endpoints of every kind: the envelope first, then plain
//! requests.

use std::sync::Mutex;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response as Reply};
use axum::routing::post;
use consort_core::schema::Schema;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::answer::BODY_MAX;
use super::*;

type Seen = Arc<Mutex<Vec<(Option<String>, Value)>>>;

/// An endpoint that gives the same reply to every call.
struct Endpoint {
    url: String,
    seen: Seen,
    server: JoinHandle<()>,
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Endpoint {
    async fn replying(status: u16, body: impl Into<String>) -> Endpoint {
        let seen = Seen::default();
        let body = body.into();
        let reply = move |State(seen): State<Seen>, headers: HeaderMap, text: String| async move {
            let key = headers.get("idempotency-key").map(|key| key.to_str().unwrap().to_owned());
            seen.lock().unwrap().push((key, serde_json::from_str(&text).unwrap()));
            let away = [(header::LOCATION, "/elsewhere")];
            (StatusCode::from_u16(status).unwrap(), away, body).into_response() as Reply
        };
        let router = Router::new().route("/call", post(reply.clone())).route("/elsewhere", post(reply));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/call", listener.local_addr().unwrap());
        let app = router.with_state(seen.clone());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Endpoint { url, seen, server }
    }

    /// Reads a whole request, writes these bytes and closes the connection.
    async fn writing(bytes: &'static [u8]) -> Endpoint {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/call", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(b"}") {
                    let read = socket.read_buf(&mut request).await.unwrap();
                    assert_ne!(read, 0);
                }
                socket.write_all(bytes).await.unwrap();
            }
        });
        Endpoint { url, seen: Seen::default(), server }
    }

    async fn call(&self, effect: EffectClass) -> Answer {
        call(&self.url, effect).await
    }
}

fn tool(endpoint: HttpEndpoint, change: impl FnOnce(&mut ToolInfo)) -> HttpTool {
    let mut info = http_tool_info("check_stock", "Checks the stock", &endpoint);
    change(&mut info);
    HttpTool::new(http_client().unwrap(), Arc::new(info), endpoint)
}

async fn call(url: &str, effect: EffectClass) -> Answer {
    let endpoint = HttpEndpoint::envelope(url).unwrap();
    tool(endpoint, |info| info.effect = effect).call(Invocation::test(json!({ "input": "salt" }))).await
}

fn done(text: &str, data: Option<Value>) -> Answer {
    Answer::Done { text: text.to_owned(), data }
}

/// Checks the answer of a call with an uncertain outcome, for each effect class.
async fn assert_in_doubt(endpoint: &Endpoint, part: &str) {
    for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Once] {
        let why = match (effect, endpoint.call(effect).await) {
            (EffectClass::Read, Answer::Failed(why)) => why,
            (EffectClass::Idempotent | EffectClass::Once, Answer::Unknown(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(why.contains(part), "{why}");
    }
}

#[tokio::test]
async fn a_tool_without_a_schema_sends_the_bare_text() {
    let endpoint = Endpoint::replying(200, r#"{"output":"3 left"}"#).await;
    assert_eq!(endpoint.call(EffectClass::Read).await, done("3 left", None));
    let body = json!({ "input": "salt", "callId": "run/1.0.0" });
    assert_eq!(*endpoint.seen.lock().unwrap(), [(None, body)]);
}

#[tokio::test]
async fn a_tool_with_a_schema_sends_its_arguments() {
    let endpoint = Endpoint::replying(200, r#"{"output":{"left":3,"of":[1,2]},"error":null}"#).await;
    let schema = Schema::new(json!({ "type": "object", "properties": { "item": { "type": "string" } } }));
    let tool = tool(HttpEndpoint::envelope(&endpoint.url).unwrap(), |info| info.schema = schema);
    let answer = tool.call(Invocation::test(json!({ "item": "salt" }))).await;
    assert_eq!(answer, done(r#"{"left":3,"of":[1,2]}"#, Some(json!({ "left": 3, "of": [1, 2] }))));
    assert_eq!(endpoint.seen.lock().unwrap()[0].1["input"], json!({ "item": "salt" }));
}

#[tokio::test]
async fn calls_with_an_effect_carry_their_key() {
    let endpoint = Endpoint::replying(200, r#"{"output":null}"#).await;
    for effect in [EffectClass::Idempotent, EffectClass::Once] {
        assert_eq!(endpoint.call(effect).await, done("null", Some(Value::Null)));
    }
    let keys: Vec<_> = endpoint.seen.lock().unwrap().iter().map(|(key, _)| key.clone()).collect();
    assert_eq!(keys, vec![Some("run/1.0.0".to_owned()); 2]);
}

#[tokio::test]
async fn an_error_the_endpoint_reports_is_a_failure_in_its_own_words() {
    for (body, why) in [(r#"{"error":"no such item"}"#, "no such item"), (r#"{"error":{"code":7}}"#, r#"{"code":7}"#)] {
        let endpoint = Endpoint::replying(200, body).await;
        assert_eq!(endpoint.call(EffectClass::Once).await, Answer::Failed(why.to_owned()));
    }
}

#[tokio::test]
async fn a_refused_request_has_certainly_not_happened() {
    let endpoint = Endpoint::replying(404, format!("{}é", "x".repeat(5000))).await;
    for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Once] {
        let Answer::Failed(why) = endpoint.call(effect).await else { panic!("{effect:?}") };
        assert!(why.starts_with("404 Not Found: xxx"), "{why}");
        assert!(why.len() < QUOTE_MAX + 50, "{}", why.len());
    }
}

#[tokio::test]
async fn a_server_error_leaves_an_effect_in_doubt() {
    assert_in_doubt(&Endpoint::replying(500, "out of salt").await, "500 Internal Server Error: out of salt").await;
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let endpoint = Endpoint::replying(307, "moved").await;
    assert_in_doubt(&endpoint, "307 Temporary Redirect").await;
    assert_eq!(endpoint.seen.lock().unwrap().len(), 3 + 3 + 1, "every attempt, and nothing elsewhere");
}

#[tokio::test]
async fn a_call_in_doubt_is_repeated_with_its_key_unless_it_happens_once() {
    for (effect, calls) in [(EffectClass::Read, 3), (EffectClass::Idempotent, 3), (EffectClass::Once, 1)] {
        let endpoint = Endpoint::replying(503, "restarting").await;
        endpoint.call(effect).await;
        let seen = endpoint.seen.lock().unwrap();
        assert_eq!((seen.len(), &seen[0]), (calls, &seen[calls - 1]), "{effect:?}");
    }
}

#[tokio::test]
async fn an_answer_of_another_shape_leaves_an_effect_in_doubt() {
    assert_in_doubt(&Endpoint::replying(200, "<html>").await, "not JSON: <html>").await;
    assert_in_doubt(&Endpoint::replying(200, r#"{"out":1}"#).await, "neither `output` nor `error`").await;
    assert_in_doubt(&Endpoint::replying(200, "[1]").await, "neither `output` nor `error`").await;
    let long = format!(r#"{{"output":"{}"}}"#, "x".repeat(BODY_MAX));
    assert_in_doubt(&Endpoint::replying(200, long).await, "longer than 8388608 bytes").await;
}

#[tokio::test]
async fn a_connection_that_breaks_after_sending_leaves_an_effect_in_doubt() {
    assert_in_doubt(&Endpoint::writing(b"").await, "broke before an answer came").await;
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"output\":";
    assert_in_doubt(&Endpoint::writing(half).await, "broke in the answer").await;
}

#[tokio::test]
async fn what_could_not_connect_has_certainly_not_happened() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/call?key=secret", listener.local_addr().unwrap());
    drop(listener);
    for effect in [EffectClass::Read, EffectClass::Idempotent, EffectClass::Once] {
        let Answer::Failed(why) = call(&url, effect).await else { panic!("{effect:?}") };
        assert!(why.starts_with("could not connect: ") && !why.contains("secret"), "{why}");
    }
}

#[test]
fn addresses_that_are_not_http_are_refused() {
    for url in ["", "check_stock", "ftp://127.0.0.1/x", "/stock"] {
        assert!(matches!(HttpEndpoint::envelope(url), Err(HttpToolError::Address(_))), "{url}");
    }
}

/// A request as an API receives it.
#[derive(Clone, Debug)]
struct Got {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: String,
}

/// An API that gives its replies in order, and then repeats the last one.
struct Api {
    server: JoinHandle<()>,
    port: u16,
    got: Arc<Mutex<Vec<Got>>>,
}

impl Drop for Api {
    fn drop(&mut self) {
        self.server.abort();
    }
}

type Canned = (u16, &'static [(&'static str, &'static str)], &'static str);

impl Api {
    async fn replying(replies: &'static [Canned]) -> Api {
        let got = Arc::<Mutex<Vec<Got>>>::default();
        let heard = got.clone();
        let reply = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let mut heard = heard.lock().unwrap();
            let (status, told, text) = replies[heard.len().min(replies.len() - 1)];
            let body = String::from_utf8(body.to_vec()).unwrap();
            heard.push(Got { method, path: uri.to_string(), headers, body });
            let mut reply = (StatusCode::from_u16(status).unwrap(), text).into_response();
            reply.headers_mut().remove(header::CONTENT_TYPE);
            for (name, value) in told {
                reply.headers_mut().insert(*name, value.parse().unwrap());
            }
            reply
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = Router::new().fallback(reply);
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Api { server, port, got }
    }

    fn endpoint(&self, method: HttpMethod, path: &str) -> HttpEndpoint {
        HttpEndpoint::plain(method, &format!("http://127.0.0.1:{}{path}", self.port)).unwrap()
    }

    async fn call(&self, method: HttpMethod, path: &str, args: Value) -> Answer {
        let any = Schema::new(json!({ "type": "object" }));
        tool(self.endpoint(method, path), |info| info.schema = any).call(Invocation::test(args)).await
    }

    fn got(&self) -> Vec<Got> {
        std::mem::take(&mut *self.got.lock().unwrap())
    }
}

#[tokio::test]
async fn a_call_of_a_run_tells_the_epoch_of_its_owner_and_its_body_arrives_whole_under_a_lease() {
    let api = Api::replying(&[(200, &[], "ok")]).await;
    let call = || api.call(HttpMethod::Post, "/pay", json!({ "sum": 3 }));
    right::within(right::Right::lasting(7), call()).await;
    right::within(right::Right::new(8, || Box::pin(std::future::ready(()))), call()).await;
    call().await;
    let got = api.got();
    let epochs: Vec<_> =
        got.iter().map(|got| got.headers.get("consort-epoch").map(|epoch| epoch.to_str().unwrap())).collect();
    assert_eq!(epochs, [Some("7"), Some("8"), None]);
    assert!(got.iter().all(|got| got.body == r#"{"sum":3}"# && got.headers.get("content-length").unwrap() == "9"));
}

#[tokio::test]
async fn a_plain_call_puts_arguments_into_path_query_and_body_as_its_method_has_them() {
    let api = Api::replying(&[(200, &[], "ok")]).await;
    let args = || json!({ "id": "a/b", "q": "x y", "n": 2 });
    for (method, path, body) in [
        (HttpMethod::Get, "/i/a%2Fb?s=x%20y&n=2", ""),
        (HttpMethod::Delete, "/i/a%2Fb?s=x%20y&n=2", ""),
        (HttpMethod::Post, "/i/a%2Fb?s=x%20y", r#"{"n":2}"#),
        (HttpMethod::Put, "/i/a%2Fb?s=x%20y", r#"{"n":2}"#),
        (HttpMethod::Patch, "/i/a%2Fb?s=x%20y", r#"{"n":2}"#),
    ] {
        assert_eq!(api.call(method, "/i/{id}?s={q}", args()).await, done("ok", None));
        let got = api.got().remove(0);
        assert_eq!((got.path.as_str(), got.body.as_str()), (path, body), "{method:?}");
        assert_eq!(got.headers.get("user-agent").unwrap(), "consort");
        assert_eq!(got.headers.contains_key("idempotency-key"), method != HttpMethod::Get, "{method:?}");
        assert_eq!(got.headers.contains_key("content-type"), !body.is_empty(), "{method:?}");
        assert_eq!(format!("{method:?}").to_uppercase(), got.method.as_str());
    }
}

#[tokio::test]
async fn a_plain_call_without_a_schema_takes_its_placeholders_and_sends_no_body() {
    let api = Api::replying(&[(201, &[], "")]).await;
    let tool = tool(api.endpoint(HttpMethod::Post, "/i/{id}/close"), |_| {});
    assert_eq!(tool.info().effect, EffectClass::Once);
    assert_eq!(tool.info().cancel, CancelClass::Finish);
    let answer = tool.call(Invocation::test(json!({ "id": "7" }))).await;
    assert_eq!(answer, done("201 Created, without content", None));
    let got = api.got().remove(0);
    assert_eq!((got.path.as_str(), got.body.as_str()), ("/i/7/close", ""));
}

#[tokio::test]
async fn arguments_that_would_change_the_address_are_refused_and_nothing_is_sent() {
    let api = Api::replying(&[(200, &[], "ok")]).await;
    for bad in [json!(""), json!("."), json!(".."), json!(null), json!({}), json!(["a"])] {
        let answer = api.call(HttpMethod::Get, "/a/{id}/b", json!({ "id": bad })).await;
        let Answer::Failed(why) = answer else { panic!("{answer:?}") };
        assert!(why.contains("`id`"), "{why}");
    }
    assert!(api.got().is_empty());
}

#[tokio::test]
async fn answers_of_an_api_are_json_text_or_a_note() {
    const JSON: &[(&str, &str)] = &[("content-type", "application/vnd.api+json; charset=utf-8")];
    let cases: [(&'static [Canned], Answer); 6] = [
        (&[(200, JSON, r#"{"a": [1]}"#)], done(r#"{"a":[1]}"#, Some(json!({ "a": [1] })))),
        (&[(200, JSON, r#""words""#)], done("words", None)),
        (&[(200, &[("content-type", "text/plain")], "words")], done("words", None)),
        (&[(200, &[("content-type", "text/html")], "<p>words")], done("<p>words", None)),
        (&[(204, &[], "")], done("204 No Content, without content", None)),
        (
            &[(200, &[("content-type", "image/png")], "png")],
            done("200 OK, with 3 bytes that are not shown: it is `image/png`, which is not text", None),
        ),
    ];
    for (reply, expected) in cases {
        let api = Api::replying(reply).await;
        assert_eq!(api.call(HttpMethod::Get, "/", json!({})).await, expected);
    }
}

#[tokio::test]
async fn a_status_from_400_on_is_a_failed_call_that_names_it() {
    let api = Api::replying(&[(404, &[], "no such issue")]).await;
    for method in [HttpMethod::Get, HttpMethod::Put, HttpMethod::Post] {
        assert_eq!(api.call(method, "/", json!({})).await, Answer::Failed("404 Not Found: no such issue".to_owned()));
        assert_eq!(api.got().len(), 1);
    }
}

#[tokio::test]
async fn reads_and_idempotent_calls_are_repeated_after_429_and_5xx_and_others_are_not() {
    for status in [429, 500, 503] {
        let replies: &'static [Canned] = match status {
            429 => &[(429, &[("retry-after", "0")], "slow"), (503, &[], "down"), (200, &[], "ok")],
            500 => &[(500, &[], "x"), (200, &[], "ok")],
            _ => &[(503, &[("retry-after-ms", "1")], "x"), (200, &[], "ok")],
        };
        for method in [HttpMethod::Get, HttpMethod::Put, HttpMethod::Delete] {
            let api = Api::replying(replies).await;
            assert_eq!(api.call(method, "/", json!({})).await, done("ok", None), "{status}");
            let keys: Vec<_> = api.got().into_iter().map(|got| got.headers.get("idempotency-key").cloned()).collect();
            assert_eq!(keys.len(), replies.len());
            assert!(keys.iter().all(|key| *key == keys[0]));
        }
        let api = Api::replying(replies).await;
        let once = api.call(HttpMethod::Post, "/", json!({})).await;
        let is_failed = matches!(once, Answer::Failed(_));
        assert_eq!((is_failed, api.got().len()), (status == 429, 1), "{once:?}");
    }
}

#[tokio::test]
async fn an_api_that_asks_for_a_long_wait_is_not_waited_for() {
    let api = Api::replying(&[(429, &[("retry-after", "3600")], "slow")]).await;
    let Answer::Failed(why) = api.call(HttpMethod::Get, "/", json!({})).await else { panic!() };
    assert_eq!(why, "429 Too Many Requests: slow (it asks for 3600 s of patience)");
    assert_eq!(api.got().len(), 1);
}

#[tokio::test]
async fn redirects_are_followed_by_reads_within_the_server_only() {
    let api = Api::replying(&[(301, &[("location", "/new?x=1")], ""), (200, &[], "found")]).await;
    assert_eq!(api.call(HttpMethod::Get, "/old", json!({})).await, done("found", None));
    assert_eq!(api.got().iter().map(|got| got.path.clone()).collect::<Vec<_>>(), ["/old", "/new?x=1"]);

    let api = Api::replying(&[(302, &[("location", "http://localhost:1/x?token=hush")], "")]).await;
    let Answer::Failed(why) = api.call(HttpMethod::Get, "/", json!({})).await else { panic!() };
    assert!(why.contains("`http://localhost`, another server") && !why.contains("hush"), "{why}");

    let api = Api::replying(&[(307, &[("location", "/new")], ""), (200, &[], "found")]).await;
    assert!(matches!(api.call(HttpMethod::Post, "/old", json!({})).await, Answer::Unknown(_)));
    assert_eq!(api.got().len(), 1);

    let api = Api::replying(&[(302, &[("location", "/round")], "")]).await;
    let Answer::Failed(why) = api.call(HttpMethod::Get, "/round", json!({})).await else { panic!() };
    assert!(why.contains("more than 5 times"), "{why}");
}

#[test]
fn a_redirect_stays_at_its_server_or_goes_to_its_https() {
    for (from, to, stays) in [
        ("http://h/a", "http://h/b", true),
        ("http://h/a", "https://h/b", true),
        ("https://h/a", "http://h/b", false),
        ("http://h/a", "http://h:81/b", false),
        ("http://h:81/a", "https://h/b", false),
        ("http://h/a", "http://g/b", false),
    ] {
        assert_eq!(stays_at(&from.parse().unwrap(), &to.parse().unwrap()), stays, "{from} {to}");
    }
}

#[tokio::test]
async fn configured_headers_are_sent_and_their_credentials_come_back_hidden() {
    const TOKEN: &str = "hush-hush";
    let api = Api::replying(&[
        (200, &[("content-type", "application/json")], r#"{"echo":"Bearer hush-hush"}"#),
        (401, &[], "bad token hush-hush"),
    ])
    .await;
    let mut headers = consort_http::headers::Headers::default();
    headers.set("Authorization", &format!("Bearer {TOKEN}"), HttpEndpoint::OWN_HEADERS).unwrap();
    headers.set("Content-Type", "application/vnd.api+json", HttpEndpoint::OWN_HEADERS).unwrap();
    let any = Schema::new(json!({ "type": "object" }));
    let tool = tool(api.endpoint(HttpMethod::Post, "/").with_headers(headers), |info| info.schema = any);
    assert!(!format!("{tool:?}").contains(TOKEN), "{tool:?}");
    let answer = tool.call(Invocation::test(json!({ "a": 1 }))).await;
    assert_eq!(answer, done(r#"{"echo":"Bearer …"}"#, Some(json!({ "echo": "Bearer …" }))));
    let got = api.got().remove(0);
    assert_eq!(got.headers.get("authorization").unwrap(), "Bearer hush-hush");
    assert_eq!(got.headers.get_all("content-type").iter().collect::<Vec<_>>(), ["application/vnd.api+json"]);
    api.got.lock().unwrap().push(got);
    let answer = tool.call(Invocation::test(json!({ "a": 1 }))).await;
    assert_eq!(answer, Answer::Failed("401 Unauthorized: bad token …".to_owned()));
}

const TOKEN: Canned = (200, &[], r#"{"access_token": "token-one", "token_type": "Bearer", "expires_in": 3600}"#);
const OTHER: Canned = (200, &[], r#"{"access_token": "token-two", "expires_in": "3600"}"#);

impl Api {
    /// Returns a tool of this API that gets its tokens there too.
    fn authorized(&self, method: HttpMethod) -> HttpTool {
        let url = Url::parse(&format!("http://127.0.0.1:{}/token", self.port)).unwrap();
        let scopes = vec!["read".to_owned(), "write".to_owned()];
        let auth = ClientCredentials::new(url, "me:us".to_owned(), "hush-hush".to_owned(), scopes);
        tool(self.endpoint(method, "/x").with_auth(Some(auth)), |_| {})
    }

    fn sent(&self) -> Vec<String> {
        let sent = |got: Got| {
            let auth = got.headers.get("authorization").map(|auth| auth.to_str().unwrap().to_owned());
            format!("{} {}", got.path, auth.unwrap_or_default())
        };
        self.got().into_iter().map(sent).collect()
    }
}

#[tokio::test]
async fn one_token_is_got_with_the_credentials_and_used_by_all_clones_until_it_ends() {
    let api = Api::replying(&[TOKEN, (200, &[], "you sent token-one and hush-hush"), (200, &[], "ok")]).await;
    let tool = api.authorized(HttpMethod::Get);
    let answer = tool.call(Invocation::test(json!({}))).await;
    assert_eq!(answer, done("you sent … and …", None));
    assert_eq!(tool.clone().call(Invocation::test(json!({}))).await, done("ok", None));
    let first = api.got.lock().unwrap()[0].clone();
    assert_eq!(first.method, Method::POST);
    assert_eq!(first.body, "grant_type=client_credentials&scope=read%20write");
    // `me%3Aus:hush-hush` in base64: a colon in a name is encoded.
    assert_eq!(api.sent(), ["/token Basic bWUlM0F1czpodXNoLWh1c2g=", "/x Bearer token-one", "/x Bearer token-one"]);
    assert!(!format!("{tool:?}").contains("hush"), "{tool:?}");
}

#[tokio::test]
async fn a_token_that_has_ended_or_is_refused_is_renewed_once() {
    const SHORT: Canned = (200, &[], r#"{"access_token": "token-one", "expires_in": 0}"#);
    let cases: [(&'static [Canned], usize, Option<&str>); 3] = [
        (&[SHORT, (200, &[], "a"), OTHER, (200, &[], "b")], 4, None),
        (&[TOKEN, (401, &[], "old"), OTHER, (200, &[], "b")], 4, None),
        (&[TOKEN, (401, &[], "old"), OTHER, (401, &[], "no")], 4, Some("401 Unauthorized: no")),
    ];
    for (replies, sent, expected) in cases {
        let api = Api::replying(replies).await;
        let tool = api.authorized(HttpMethod::Post);
        let mut answer = tool.call(Invocation::test(json!({}))).await;
        if api.got.lock().unwrap().len() == 2 {
            answer = tool.call(Invocation::test(json!({}))).await;
        }
        assert_eq!(answer, expected.map_or_else(|| done("b", None), |why| Answer::Failed(why.to_owned())));
        let told = api.sent();
        assert_eq!(told.len(), sent, "{told:?}");
        assert_eq!((told[1].as_str(), told[3].as_str()), ("/x Bearer token-one", "/x Bearer token-two"));
    }
}

#[tokio::test]
async fn without_a_token_nothing_is_sent_and_the_reason_holds_no_secret() {
    let cases: [(&'static [Canned], &str); 6] = [
        (
            &[(400, &[], r#"{"error": "invalid_client", "error_description": "hush-hush is wrong"}"#)],
            "400 Bad Request invalid_client … is wrong",
        ),
        (&[(503, &[], "hush-hush")], "503 Service Unavailable"),
        (&[(200, &[], r#"{"token": "x"}"#)], "no `access_token`"),
        (&[(200, &[], r#"{"access_token": "a\nb"}"#)], "cannot be sent"),
        (&[(200, &[], r#"{"access_token": "a", "token_type": "mac"}"#)], "type Bearer"),
        (&[(307, &[("location", "/x")], "")], "307"),
    ];
    for (replies, part) in cases {
        let api = Api::replying(replies).await;
        let answer = api.authorized(HttpMethod::Post).call(Invocation::test(json!({}))).await;
        let Answer::Failed(why) = answer else { panic!("{answer:?}") };
        assert!(why.starts_with("there is no token from `127.0.0.1`: ") && why.contains(part), "{why}");
        assert!(!why.contains("hush") && api.got().iter().all(|got| got.path == "/token"), "{why}");
    }
}

#[tokio::test]
async fn credentials_that_a_server_wants_in_the_body_are_sent_there() {
    let api = Api::replying(&[(401, &[], ""), TOKEN, (200, &[], "ok")]).await;
    assert_eq!(api.authorized(HttpMethod::Get).call(Invocation::test(json!({}))).await, done("ok", None));
    let form = "grant_type=client_credentials&scope=read%20write&client_id=me%3Aus&client_secret=hush-hush";
    assert_eq!(api.got()[1].body, form);
}

#[tokio::test]
async fn a_repetition_is_reported_while_it_waits() {
    let api = Api::replying(&[(503, &[("retry-after-ms", "1")], "down"), (200, &[], "ok")]).await;
    let invocation = Invocation::test(json!({}));
    let reports = invocation.account.reports();
    let tool = tool(api.endpoint(HttpMethod::Get, "/x"), |_| {});
    assert_eq!(tool.call(invocation).await, done("ok", None));
    let told = reports.borrow().clone().unwrap();
    assert_eq!(told.status.as_deref(), Some("retrying"));
    assert!(told.message.as_ref().unwrap().starts_with("503 Service Unavailable: down"), "{told:?}");
    assert!(told.message.unwrap().ends_with("asked again in 100 ms (1 of 2)"));
}
