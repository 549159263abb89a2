//! The subschemas of a schema and their relations: which apply to the same value as their parent, and which
//! to a part of it.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The index of a subschema in its graph.
pub(super) type NodeId = usize;

/// Every subschema that can be reached from the root.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// One subschema.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The subschemas for the same value, each written in place or reached by a reference.
    pub(super) in_place: Vec<(NodeId, Link)>,
    /// The subschemas for the fields of these names.
    pub(super) properties: HashMap<String, NodeId>,
    /// The subschemas for any field.
    pub(super) every_property: Vec<NodeId>,
    /// The subschemas for the names of fields.
    pub(super) names: Vec<NodeId>,
    /// The subschemas for the first items, in order.
    pub(super) prefix: Vec<NodeId>,
    /// The subschemas for any item.
    pub(super) every_item: Vec<NodeId>,
    /// Whether it has an `unevaluated…` keyword, for which the other subschemas are evaluated twice.
    pub(super) is_unevaluated: bool,
    /// Whether the items of a list must differ.
    pub(super) is_unique: bool,
    /// The number of its own keywords, each with the size of its value.
    pub(super) keywords: u64,
    /// The pattern for texts.
    pub(super) pattern: Option<String>,
    /// The patterns for the names of fields.
    pub(super) name_patterns: Vec<String>,
}

/// The kind of link from one subschema to another for the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Written,
    Reference,
}

impl Node {
    /// Returns the subschemas for parts of the value.
    pub(super) fn parts(&self) -> impl Iterator<Item = NodeId> {
        let properties = self.properties.values().chain(&self.every_property).chain(&self.names);
        properties.chain(&self.prefix).chain(&self.every_item).copied()
    }
}

/// Reads a schema of known depth. The error message is for people.
pub(super) fn read(root: &Value) -> Result<Graph, String> {
    let mut anchors = HashMap::new();
    collect_anchors(root, &mut anchors)?;
    let mut reader = Reader { root, anchors, known: HashMap::new(), unread: Vec::new(), nodes: Vec::new() };
    reader.node(root);
    while let Some((id, schema)) = reader.unread.pop() {
        let node = reader.read(schema)?;
        if let Some(place) = reader.nodes.get_mut(id) {
            *place = node;
        }
    }
    Ok(Graph { nodes: reader.nodes })
}

struct Reader<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
    /// The nodes by the address of their JSON.
    known: HashMap<usize, NodeId>,
    unread: Vec<(NodeId, &'a Value)>,
    nodes: Vec<Node>,
}

impl<'a> Reader<'a> {
    fn node(&mut self, schema: &'a Value) -> NodeId {
        let next = self.nodes.len();
        let id = *self.known.entry(std::ptr::from_ref(schema) as usize).or_insert(next);
        if id == next {
            self.nodes.push(Node::default());
            self.unread.push((id, schema));
        }
        id
    }

    fn read(&mut self, schema: &'a Value) -> Result<Node, String> {
        let mut node = Node { keywords: 1, ..Node::default() };
        let Value::Object(keywords) = schema else { return Ok(node) };
        let is_root = std::ptr::eq(schema, self.root);
        for (keyword, value) in keywords {
            node.keywords += 1;
            match keyword.as_str() {
                "$id" | "$schema" if value.is_string() && !is_root => {
                    return Err(format!("`{keyword}` is allowed at the root only"));
                }
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    if let Value::String(reference) = value {
                        let target = self.target(reference)?;
                        node.in_place.push((self.node(target), Link::Reference));
                    }
                }
                _ => self.keyword(keyword, value, &mut node),
            }
        }
        Ok(node)
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value, node: &mut Node) {
        match keyword {
            "allOf" | "anyOf" | "oneOf" => {
                let ids = self.list(value);
                node.in_place.extend(ids.into_iter().map(|id| (id, Link::Written)));
            }
            "not" | "if" | "then" | "else" => node.in_place.push((self.node(value), Link::Written)),
            "dependentSchemas" | "dependencies" => {
                let ids = self.named(value).into_iter().map(|(_, id)| (id, Link::Written));
                node.in_place.extend(ids);
            }
            "properties" => {
                let named = self.named(value);
                // Each name is looked up in the value.
                node.keywords += named.len() as u64;
                node.properties.extend(named.into_iter().map(|(name, id)| (name.clone(), id)));
            }
            "patternProperties" => {
                let named = self.named(value);
                node.name_patterns.extend(named.iter().map(|(pattern, _)| (*pattern).clone()));
                node.every_property.extend(named.into_iter().map(|(_, id)| id));
            }
            "additionalProperties" => node.every_property.push(self.node(value)),
            "unevaluatedProperties" => {
                node.is_unevaluated = true;
                node.every_property.push(self.node(value));
            }
            "propertyNames" => node.names.push(self.node(value)),
            "prefixItems" => node.prefix = self.list(value),
            "items" if value.is_array() => node.prefix = self.list(value),
            "items" | "contains" | "additionalItems" => node.every_item.push(self.node(value)),
            "unevaluatedItems" => {
                node.is_unevaluated = true;
                node.every_item.push(self.node(value));
            }
            "pattern" => node.pattern = value.as_str().map(str::to_owned),
            "uniqueItems" => node.is_unique = value == &Value::Bool(true),
            "enum" | "const" | "required" | "dependentRequired" => node.keywords += size(value),
            // Any other keyword is a number to compare with, or does not restrict values.
            _ => {}
        }
    }

    fn list(&mut self, value: &'a Value) -> Vec<NodeId> {
        value.as_array().into_iter().flatten().map(|schema| self.node(schema)).collect()
    }

    fn named(&mut self, value: &'a Value) -> Vec<(&'a String, NodeId)> {
        let fields = value.as_object().into_iter().flatten();
        // A list among `dependencies` names fields and is no schema.
        let schemas = fields.filter(|(_, value)| value.is_object() || value.is_boolean());
        schemas.map(|(name, schema)| (name, self.node(schema))).collect()
    }

    /// Returns the subschema that a reference points at.
    fn target(&self, reference: &str) -> Result<&'a Value, String> {
        let Some(fragment) = reference.strip_prefix('#') else {
            return Err(format!("only local references are allowed, not `{reference}`"));
        };
        let fragment = percent_decoded(fragment);
        let target = match fragment.as_str() {
            "" => Some(self.root),
            pointer if pointer.starts_with('/') => self.pointed_at(pointer),
            anchor => self.anchors.get(anchor).copied(),
        };
        target.ok_or_else(|| format!("the reference `{reference}` points nowhere"))
    }

    fn pointed_at(&self, pointer: &str) -> Option<&'a Value> {
        pointer.split('/').skip(1).try_fold(self.root, |value, part| {
            let part = part.replace("~1", "/").replace("~0", "~");
            let next = match value {
                Value::Object(fields) => fields.get(&part)?,
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
            };
            // A part with its own `$id` would change the meaning of `#` inside it.
            (!is_resource(next)).then_some(next)
        })
    }
}

fn is_resource(value: &Value) -> bool {
    value.get("$id").is_some_and(Value::is_string)
}

/// Collects the anchors. Two subschemas may not share one, or a reference would be ambiguous.
fn collect_anchors<'a>(value: &'a Value, anchors: &mut HashMap<&'a str, &'a Value>) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| collect_anchors(item, anchors)),
        Value::Object(fields) => {
            for name in names(fields) {
                let taken = anchors.insert(name, value);
                if taken.is_some_and(|other| !std::ptr::eq(other, value)) {
                    return Err(format!("two places are called `{name}` by `$anchor` or `$dynamicAnchor`"));
                }
            }
            fields.values().try_for_each(|field| collect_anchors(field, anchors))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

fn names(fields: &Map<String, Value>) -> impl Iterator<Item = &str> {
    ["$anchor", "$dynamicAnchor"].into_iter().filter_map(|keyword| fields.get(keyword)?.as_str())
}

/// Returns the number of values in a value, itself included.
pub(super) fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(size).sum::<u64>() + 1,
        Value::Object(fields) => fields.values().map(size).sum::<u64>() + 1,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let byte =
            code.and_then(|code| std::str::from_utf8(code).ok()).and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = after.get(if byte.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
