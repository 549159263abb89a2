//! The agent card: what this agent can do, and how it is asked.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{PATH, REST, VERSION};
use crate::Site;
use crate::access::Pass;
use crate::mcp;
use crate::offers::{Offer, What, offers};

/// The types of the parts of a message that are taken.
const INPUT_MODES: [&str; 9] = [
    "text/plain",
    "application/json",
    "text/markdown",
    "text/csv",
    "application/pdf",
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
];
/// The types of the parts of an artifact.
const OUTPUT_MODES: [&str; 2] = ["text/plain", "application/json"];

/// Returns the card, with the skills that this client may use; without a client, with all.
pub(super) async fn card(site: &Site, headers: &HeaderMap, pass: Option<&Pass>) -> Value {
    let base = mcp::base(site, headers);
    let offers = offers(site).await;
    let is_allowed = |offer: &&Offer| pass.is_none_or(|pass| pass.check(offer.scope()).is_ok());
    let skills: Vec<Value> = offers.iter().filter(is_allowed).map(skill).collect();
    let name = &site.server.ensemble.name;
    let name = if name.is_empty() { "consort" } else { name };
    let interface = |path: &str, binding: &str| json!({ "url": format!("{base}{path}"), "protocolBinding": binding, "protocolVersion": VERSION });
    let mut card = json!({
        "name": name,
        "description": format!("The ensemble '{name}': agents that answer messages and do tasks."),
        "version": env!("CARGO_PKG_VERSION"),
        "supportedInterfaces": [interface(PATH, "JSONRPC"), interface(REST, "HTTP+JSON")],
        "capabilities": { "streaming": true, "pushNotifications": true, "extendedAgentCard": true },
        "defaultInputModes": INPUT_MODES,
        "defaultOutputModes": OUTPUT_MODES,
        "skills": skills,
    });
    if let (Some((schemes, requirements)), Value::Object(fields)) = (security(site), &mut card) {
        fields.insert("securitySchemes".to_owned(), schemes);
        fields.insert("securityRequirements".to_owned(), requirements);
    }
    card
}

/// Returns the credentials that clients can show, and that they need one of them; nothing where none is needed.
fn security(site: &Site) -> Option<(Value, Value)> {
    let access = site.terms.access.borrow();
    let key = (!access.keys.is_empty()).then(|| {
        let about = "A key of the server that has the scope `run`.";
        ("key", json!({ "httpAuthSecurityScheme": { "scheme": "Bearer", "description": about } }))
    });
    let token = access.issuer.as_ref().map(|issuer| {
        let url = format!("{}/.well-known/openid-configuration", issuer.url().trim_end_matches('/'));
        ("oidc", json!({ "openIdConnectSecurityScheme": { "openIdConnectUrl": url } }))
    });
    let schemes: Vec<(&str, Value)> = key.into_iter().chain(token).collect();
    if schemes.is_empty() {
        return None;
    }
    let requirements = schemes.iter().map(|(name, _)| json!({ "schemes": { *name: { "list": [] } } })).collect();
    Some((schemes.into_iter().collect(), requirements))
}

fn skill(offer: &Offer) -> Value {
    let kind = match &offer.what {
        What::Tool(_) => "tool",
        What::Task(_) => "task",
        What::Run { workflow: Some(_) } => "workflow",
        What::Run { workflow: None } => "ensemble",
        What::Chat => "chat",
    };
    let tags: Vec<&str> = offer.tags().chain([kind]).collect();
    let mut skill = json!({ "id": offer.name(), "name": offer.name(), "description": offer.description(),
        "tags": tags });
    let takes_files = !matches!(offer.what, What::Tool(_));
    if let (false, Value::Object(fields)) = (takes_files, &mut skill) {
        fields.insert("inputModes".to_owned(), json!(["application/json", "text/plain"]));
    }
    skill
}
