//! An address with `{…}` in it. The values that replace them come from a model, so each
//! stays inside the path segment or the query value it was meant for: it is percent-encoded,
//! and the server, its port and the number of path segments are those of the configuration.

use std::fmt;

use consort_core::reach::host_of;
use reqwest::Url;
use serde_json::{Map, Value, json};

/// The maximum size of an address in bytes; servers refuse longer ones.
const URL_MAX: usize = 8 * 1024;
/// The maximum number of values of one list in a query.
pub(super) const LIST_MAX: usize = 200;

/// An address with placeholders.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Target {
    /// The address with a sample value for every placeholder, to check the
    /// parts that must not change; none where there is no address yet.
    sample: Option<Url>,
    /// The protocol, server and port, as they were written.
    origin: String,
    /// The segments of the path.
    segments: Vec<Vec<Part>>,
    /// The query, in the order of the configuration.
    query: Vec<Pair>,
}

/// A piece of an address.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    /// A literal text, as it is sent.
    Text(String),
    /// A placeholder for the argument of this name.
    Value(String),
}

/// One value of the query.
#[derive(Clone, PartialEq)]
struct Pair {
    /// The name, decoded.
    name: String,
    /// The encoded name as it is sent, with `=` where a value follows.
    head: String,
    value: Vec<Part>,
}

/// An address filled with a call's arguments, and the arguments without a placeholder.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) url: Url,
    pub(super) rest: Map<String, Value>,
}

impl Target {
    /// Parses an address.
    pub(super) fn parse(text: &str) -> Result<Target, String> {
        Target::read(text, is_plain_name)
    }

    /// Parses an address of a document that others wrote: its placeholders may have any name.
    pub(super) fn of_document(text: &str) -> Result<Target, String> {
        Target::read(text, |_| true)
    }

    fn read(text: &str, is_name: fn(char) -> bool) -> Result<Target, String> {
        if text.contains(|sign: char| sign.is_control() || sign.is_whitespace() || sign == '\\') {
            return Err("an address has no spaces, control characters or `\\`".to_owned());
        }
        let (address, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (place, query) = address.split_once('?').unwrap_or((address, ""));
        let start = place.find("://").map_or(0, |at| at + "://".len());
        let host_end = place.get(start..).and_then(|rest| rest.find('/')).map_or(place.len(), |at| start + at);
        let (origin, path) = place.split_at_checked(host_end).unwrap_or((place, ""));
        if origin.contains(['{', '}']) || fragment.contains(['{', '}']) {
            return Err("`{…}` may stand in path segments and query values only".to_owned());
        }
        let segments: Vec<_> = path.split('/').skip(1).map(|text| parts(text, is_name)).collect::<Result<_, _>>()?;
        let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(Pair::parse);
        let query = pairs.collect::<Result<Vec<_>, _>>()?;
        let sample = sample(origin, &segments)?;
        Ok(Target { sample: Some(sample), origin: origin.to_owned(), segments, query })
    }

    /// Adds a value to the query, from a name and a text with placeholders.
    pub(super) fn add_query(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name.is_empty() || name.contains(['{', '}']) {
            return Err("`{…}` may stand in the values of a query, not in its names".to_owned());
        }
        let encode = |part: Part| match part {
            Part::Text(text) => Part::Text(encoded(&text)),
            Part::Value(name) => Part::Value(name),
        };
        let value = parts(value, is_plain_name)?.into_iter().map(encode).collect();
        self.query.push(Pair { name: name.to_owned(), head: format!("{}=", encoded(name)), value });
        Ok(())
    }

    /// Returns the host, which no argument changes.
    pub(super) fn host(&self) -> Option<String> {
        host_of(&self.origin)
    }

    /// Returns whether the address has placeholders.
    pub(super) fn has_placeholders(&self) -> bool {
        self.placeholders().next().is_some()
    }

    /// Returns the names of the placeholders, in order.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        let texts = self.segments.iter().chain(self.query.iter().map(|pair| &pair.value));
        texts.flatten().filter_map(Part::name)
    }

    /// Returns the default schema of the arguments: every placeholder is a text or a number, those of
    /// the path are required, and others may be given too.
    pub(super) fn schema(&self) -> Value {
        let scalar = json!({ "type": ["string", "number", "boolean"] });
        let properties: Map<String, Value> =
            self.placeholders().map(|name| (name.to_owned(), scalar.clone())).collect();
        let mut required: Vec<&str> = self.segments.iter().flatten().filter_map(Part::name).collect();
        required.sort_unstable();
        required.dedup();
        json!({ "type": "object", "properties": properties, "required": required })
    }

    /// Checks that a schema fits the address; the error says what does not.
    pub(super) fn check(&self, schema: &Value) -> Result<(), String> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Ok(()) };
        if let Some(name) = self.placeholders().find(|name| !properties.contains_key(*name)) {
            return Err(format!("has no property `{name}`, which the address or the query asks for"));
        }
        match self.query.iter().find(|pair| self.is_fixed(&pair.name) && properties.contains_key(&pair.name)) {
            Some(pair) => Err(format!("has a property `{}`, which the address or the query already sets", pair.name)),
            None => Ok(()),
        }
    }

    /// Returns whether the schema allows arguments beside the placeholders.
    pub(super) fn leaves_over(&self, schema: &Value) -> bool {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties.is_none_or(|all| all.keys().any(|name| !self.placeholders().any(|known| known == name)))
    }

    /// Returns whether the configuration sets the value sent under
    /// this name, and no argument of that name is part of it.
    fn is_fixed(&self, name: &str) -> bool {
        self.query.iter().any(|pair| pair.name == name) && !self.placeholders().any(|known| known == name)
    }

    /// Replaces the placeholders by arguments; the error tells the model what is wrong with them.
    pub(super) fn fill(&self, args: &Map<String, Value>) -> Result<Filled, String> {
        let mut address = self.origin.clone();
        for segment in &self.segments {
            address.push('/');
            address.push_str(&path_segment(segment, args)?);
        }
        let mut query = Vec::new();
        for pair in &self.query {
            query.extend(pair.fill(args)?);
        }
        if !query.is_empty() {
            address.push('?');
            address.push_str(&query.join("&"));
        }
        let is_left = |name: &str| !self.placeholders().any(|known| known == name);
        let rest: Map<String, Value> =
            args.iter().filter(|(name, _)| is_left(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
        if let Some(name) = rest.keys().find(|name| self.is_fixed(name)) {
            return Err(format!("`{name}` is not yours to choose: the tool sets it itself"));
        }
        Ok(Filled { url: self.checked(&address)?, rest })
    }

    /// Returns the address, if it leads to the configured server and path.
    fn checked(&self, address: &str) -> Result<Url, String> {
        let url = short_enough(address)?;
        let place = |url: &Url| {
            let segments = url.path_segments().map_or(0, Iterator::count);
            (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default(), segments)
        };
        let stays = self.sample.as_ref().is_some_and(|sample| place(&url) == place(sample));
        if stays { Ok(url) } else { Err("these arguments lead elsewhere".to_owned()) }
    }
}

/// Adds the arguments without a placeholder to the query.
pub(super) fn with_rest(mut url: Url, rest: &Map<String, Value>) -> Result<Url, String> {
    let mut pairs = Vec::new();
    for (name, value) in rest {
        let head = format!("{}=", encoded(name));
        pairs.extend(texts(name, value)?.into_iter().map(|text| head.clone() + &encoded(&text)));
    }
    if pairs.is_empty() {
        return Ok(url);
    }
    let joined = url.query().into_iter().map(str::to_owned).chain(pairs).collect::<Vec<_>>().join("&");
    url.set_query(Some(&joined));
    short_enough(url.as_str())
}

impl Part {
    fn name(&self) -> Option<&str> {
        match self {
            Part::Text(_) => None,
            Part::Value(name) => Some(name),
        }
    }
}

impl Pair {
    /// Parses `name=value` as written in an address.
    fn parse(text: &str) -> Result<Pair, String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if name.contains(['{', '}']) {
            return Err("`{…}` may stand in the values of a query, not in its names".to_owned());
        }
        let head = if value.is_some() { format!("{name}=") } else { name.to_owned() };
        Ok(Pair { name: decoded(name), head, value: parts(value.unwrap_or_default(), is_plain_name)? })
    }

    /// Returns the values to send: none where an argument was not
    /// given, and one for each item of a list that stands alone.
    fn fill(&self, args: &Map<String, Value>) -> Result<Vec<String>, String> {
        if let [Part::Value(name)] = self.value.as_slice() {
            let Some(value) = given(name, args) else { return Ok(Vec::new()) };
            let texts = texts(name, value)?.into_iter();
            return texts.map(|text| Ok(format!("{}{}", self.head, encoded(safe(name, &text)?)))).collect();
        }
        if self.value.iter().filter_map(Part::name).any(|name| given(name, args).is_none()) {
            return Ok(Vec::new());
        }
        Ok(vec![format!("{}{}", self.head, joined(&self.value, args)?)])
    }
}

fn is_plain_name(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_' || sign == '-'
}

/// Parses a text with `{name}` in it.
fn parts(text: &str, is_name: fn(char) -> bool) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or("`{` without `}`")?;
        if name.is_empty() || name.contains('{') || !name.chars().all(is_name) {
            return Err("`{` must be followed by the name of an argument and `}`".to_owned());
        }
        if before.contains('}') {
            return Err("`}` without `{`".to_owned());
        }
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        parts.push(Part::Value(name.to_owned()));
        rest = after;
    }
    if rest.contains('}') {
        return Err("`}` without `{`".to_owned());
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

/// Returns the address with a harmless value for every placeholder.
fn sample(origin: &str, segments: &[Vec<Part>]) -> Result<Url, String> {
    let mut address = origin.to_owned();
    for segment in segments {
        address.push('/');
        address.extend(segment.iter().map(|part| if let Part::Text(text) = part { text.as_str() } else { "x" }));
    }
    let url = Url::parse(&address).map_err(|error| error.to_string())?;
    match url.scheme() {
        "http" | "https" if url.has_host() => Ok(url),
        scheme => Err(format!("it begins with `{scheme}:`")),
    }
}

pub(super) fn short_enough(address: &str) -> Result<Url, String> {
    if address.len() > URL_MAX {
        return Err(format!("the address would have more than {URL_MAX} bytes: pass less"));
    }
    Url::parse(address).map_err(|error| format!("these arguments make no address: {error}"))
}

fn path_segment(segment: &[Part], args: &Map<String, Value>) -> Result<String, String> {
    for name in segment.iter().filter_map(Part::name) {
        given(name, args).ok_or_else(|| format!("`{name}` is needed"))?;
    }
    let text = joined(segment, args)?;
    // The configuration may contain dots as well; only arguments are checked here.
    let has_value = segment.iter().any(|part| part.name().is_some());
    let plain = text.to_ascii_lowercase().replace("%2e", ".");
    if has_value && matches!(plain.as_str(), "." | "..") {
        return Err("`.` and `..` are not allowed in an address".to_owned());
    }
    Ok(text)
}

fn joined(parts: &[Part], args: &Map<String, Value>) -> Result<String, String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(written) => text.push_str(written),
            Part::Value(name) => {
                let value = single(name, given(name, args).unwrap_or(&Value::Null))?;
                text.push_str(&encoded(safe(name, &value)?));
            }
        }
    }
    Ok(text)
}

/// Returns an argument; null counts as absent.
fn given<'a>(name: &str, args: &'a Map<String, Value>) -> Option<&'a Value> {
    args.get(name).filter(|value| !value.is_null())
}

/// Returns the value, unless it could change the meaning of the address around it.
fn safe<'a>(name: &str, text: &'a str) -> Result<&'a str, String> {
    match text {
        "" => Err(format!("`{name}` must not be empty")),
        "." | ".." => Err(format!("`{name}` must not be `{text}`")),
        text => Ok(text),
    }
}

pub(super) fn single(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(format!("`{name}` must be a text, a number or a boolean"))
        }
    }
}

/// Returns the values of an argument in a query: one, or those of a list.
fn texts(name: &str, value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) if items.len() > LIST_MAX => Err(format!("`{name}` has more than {LIST_MAX} items")),
        Value::Array(items) => items.iter().map(|item| single(name, item)).collect(),
        Value::Object(_) => Ok(vec![value.to_string()]),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => single(name, value).map(|text| vec![text]),
    }
}

/// Percent-encodes a text so that it fits anywhere in an address.
pub(crate) fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// Returns the decoded name of a query value.
fn decoded(name: &str) -> String {
    let pairs = Url::parse(&format!("http://x/?{name}=")).ok();
    pairs.and_then(|url| url.query_pairs().next().map(|(name, _)| name.into_owned())).unwrap_or_default()
}

/// Shows only the server, because the rest may hold a token.
impl fmt::Debug for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.sample {
            Some(sample) => write!(out, "{}://{}/…", sample.scheme(), sample.host_str().unwrap_or_default()),
            None => out.write_str("…"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fill(url: &str, args: Value) -> Result<String, String> {
        let filled = Target::parse(url)?.fill(args.as_object().unwrap())?;
        with_rest(filled.url, &filled.rest).map(String::from)
    }

    #[test]
    fn values_are_encoded_and_stay_in_their_place() {
        for (url, args, expected) in [
            ("http://h/a/{x}", json!({"x": "a/b?c#d%2e"}), "http://h/a/a%2Fb%3Fc%23d%252e"),
            ("http://h/{x}.json", json!({"x": 7}), "http://h/7.json"),
            ("http://h/{x}/y?a={y}&b=1", json!({"x": "ü", "y": "p&q=r"}), "http://h/%C3%BC/y?a=p%26q%3Dr&b=1"),
            ("http://h/x?a={y}&b=1", json!({}), "http://h/x?b=1"),
            ("http://h/x?a={y}", json!({"y": ["p", 2, true]}), "http://h/x?a=p&a=2&a=true"),
            ("http://h/x?a=[{y}]", json!({"y": null, "z": "1 2"}), "http://h/x?z=1%202"),
            ("http://h/x", json!({"f": {"a": 1}, "e": ""}), "http://h/x?f=%7B%22a%22%3A1%7D&e="),
            ("http://h:81/x?flag", json!({}), "http://h:81/x?flag"),
        ] {
            assert_eq!(fill(url, args).as_deref(), Ok(expected), "{url}");
        }
    }

    #[test]
    fn values_that_would_change_the_address_are_refused() {
        for (url, args, part) in [
            ("http://h/a/{x}", json!({"x": ""}), "`x` must not be empty"),
            ("http://h/a/{x}", json!({"x": "."}), "`x` must not be `.`"),
            ("http://h/a/{x}/b", json!({"x": ".."}), "`x` must not be `..`"),
            ("http://h/a/{x}{y}", json!({"x": ".", "y": "."}), "must not be `.`"),
            ("http://h/a/.{x}", json!({"x": "."}), "must not be `.`"),
            ("http://h/a/%2E{x}", json!({"x": "."}), "must not be `.`"),
            ("http://h/a?q={x}", json!({"x": ""}), "`x` must not be empty"),
            ("http://h/a?q={x}", json!({"x": ["a", ".."]}), "`x` must not be `..`"),
            ("http://h/a/{x}", json!({}), "`x` is needed"),
            ("http://h/a/{x}", json!({"x": null}), "`x` is needed"),
            ("http://h/a/{x}", json!({"x": ["a"]}), "a text, a number or a boolean"),
            ("http://h/a?key=1", json!({"key": "2"}), "not yours to choose"),
            ("http://h/a?k%65y=1", json!({"key": "2"}), "not yours to choose"),
            ("http://h/a/{x}", json!({"x": "y".repeat(9000)}), "more than 8192 bytes"),
        ] {
            let told = fill(url, args).unwrap_err();
            assert!(told.contains(part), "{url}: {told}");
        }
    }

    #[test]
    fn placeholders_stand_in_path_segments_and_query_values_only() {
        for url in [
            "http://{h}/a",
            "{s}://h/a",
            "http://{u}@h/a",
            "http://h:{p}/a",
            "http://h/a#{x}",
            "http://h/a?{x}=1",
            "http://h/a?{x}",
            "http://h/{",
            "http://h/}",
            "http://h/{}",
            "http://h/{a b}",
            "http://h/{a{b}}",
            "http://h/\\{x}",
            "http://h/.\t{x}",
            "ftp://h/{x}",
            "/a/{x}",
            "",
        ] {
            assert!(Target::parse(url).is_err(), "{url}");
        }
    }

    #[test]
    fn the_schema_is_made_of_the_placeholders() {
        let mut target = Target::parse("http://h/{owner}/{repo}/{owner}").unwrap();
        target.add_query("state", "{state}").unwrap();
        let scalar = json!({ "type": ["string", "number", "boolean"] });
        let properties = json!({ "owner": scalar, "repo": scalar, "state": scalar });
        let schema = target.schema();
        assert_eq!(schema["properties"], properties);
        assert_eq!(schema["required"], json!(["owner", "repo"]));
        assert!(target.check(&schema).is_ok() && !target.leaves_over(&schema));
        let less = json!({ "properties": { "owner": {}, "repo": {} } });
        assert!(target.check(&less).unwrap_err().contains("`state`"));
    }

    proptest! {
        #[test]
        fn no_arguments_lead_anywhere_else(x in ".{0,12}", y in "[./%2eE{}@:#?&=\\\\]{0,4}") {
            let target = Target::parse("http://h:81/a/{x}/b/{x}{y}?q={y}").unwrap();
            let args = json!({ "x": x, "y": y });
            if let Ok(filled) = target.fill(args.as_object().unwrap()) {
                let segments: Vec<_> = filled.url.path_segments().unwrap().map(str::to_owned).collect();
                prop_assert_eq!(segments.len(), 4);
                prop_assert_eq!(&segments[1], &encoded(&x));
                prop_assert_eq!(&segments[3], &(encoded(&x) + &encoded(&y)));
                prop_assert_eq!(filled.url.host_str(), Some("h"));
                let query: Vec<_> = filled.url.query_pairs().map(|(_, value)| value.into_owned()).collect();
                prop_assert_eq!(query, vec![y]);
            }
        }
    }
}
