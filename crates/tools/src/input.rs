//! The arguments of a tool that a person or a program calls instead of a model, from an input that may be a
//! plain text.

use consort_core::catalog::ToolInfo;
use serde_json::{Value, json};

use crate::busy;

/// The reason why an input holds no arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputError {
    /// It is a text that holds no object, and the tool has no text that it could stand for.
    NoObject,
    /// It is neither an object nor a text.
    OtherType,
}

/// Returns the arguments that an input stands for: an object is the arguments, a text is either the
/// arguments as JSON or the value of the tool's only required text, and no input is an empty object.
pub fn input_arguments(tool: &ToolInfo, input: Option<&Value>) -> Result<Value, InputError> {
    match input {
        None | Some(Value::Null) => Ok(json!({})),
        Some(Value::String(text)) => busy::in_place(|| tool.schema.arguments(text)).ok_or(InputError::NoObject),
        Some(object @ Value::Object(_)) => Ok(object.clone()),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => Err(InputError::OtherType),
    }
}
