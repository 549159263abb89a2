//! The request of a run: the file of `--file`, which is the body of `POST /api/runs`,
//! with `--input` and `--tag` on top. [`read`] is for a run in this process, [`body`]
//! for one on a server.

use std::collections::BTreeSet;

use consort_core::attachments::AttachmentSource;
use consort_core::draft::{Draft, Ensemble, Group, Request};
use consort_core::expression::named_inputs;
use consort_core::request::parse;
use consort_core::template::variables;
use serde_json::{Value, json};

use super::Args;
use crate::commands::{extend, json_file};

/// The similarity from which one name is suggested for another.
const ALIKE: f64 = 0.8;

/// Returns the request, with warnings; or all mistakes, one per line.
pub(super) fn read(args: &Args, ensemble: Option<&Ensemble>) -> Result<(Request, Vec<String>), Vec<String>> {
    let json = file(args)?;
    if json.get("dryRun") == Some(&Value::Bool(true)) {
        return Err(vec!["dryRun: only a server answers this; without it, the run is made".to_owned()]);
    }
    let (mut request, warnings) =
        parse(&json).map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let unknown = unknown(&args.input, &known(ensemble, &request));
    request.inputs.extend(args.input.iter().cloned());
    request.tags.extend(args.tag.iter().cloned());
    request.attachments.extend(args.attach.iter().cloned().map(AttachmentSource::File));
    if unknown.is_empty() { Ok((request, warnings)) } else { Err(unknown) }
}

/// Returns the request as it is sent; the server checks its parts.
pub(super) fn body(args: &Args) -> Result<Value, Vec<String>> {
    let Value::Object(mut body) = file(args)? else { return Err(vec!["the request must be a JSON object".to_owned()]) };
    let added = [extend(&mut body, "inputs", &args.input), extend(&mut body, "tags", &args.tag)];
    let mistakes: Vec<String> = added.into_iter().filter_map(Result::err).collect();
    if mistakes.is_empty() { Ok(body.into()) } else { Err(mistakes) }
}

/// Returns the content of the file; without one, an empty request.
fn file(args: &Args) -> Result<Value, Vec<String>> {
    match &args.file {
        Some(file) => json_file(file).map_err(|mistake| vec![mistake]),
        None => Ok(json!({})),
    }
}

/// Returns inputs of the command line that no task uses: a typo would otherwise give a
/// good answer to another question.
pub(crate) fn unknown(typed: &[(String, Value)], known: &BTreeSet<&str>) -> Vec<String> {
    let unknown = typed.iter().filter(|(name, _)| !known.contains(name.as_str()));
    let words = |(name, _): &(String, Value)| {
        let alike = |known: &&&str| strsim::jaro_winkler(name, known) > ALIKE;
        let hint = match known.iter().find(alike) {
            Some(known) => format!("did you mean `{known}`?"),
            None if known.is_empty() => "the tasks have no variables".to_owned(),
            None => format!("there are {}", known.iter().copied().collect::<Vec<_>>().join(", ")),
        };
        format!("inputs.{name}: no task uses it; {hint}")
    };
    unknown.map(words).collect()
}

/// Returns every variable that a task of this run may use, and those with a default.
pub(crate) fn known<'a>(ensemble: Option<&'a Ensemble>, request: &'a Request) -> BTreeSet<&'a str> {
    let defaults = ensemble.into_iter().flat_map(|ensemble| ensemble.inputs.keys());
    let given = ensemble.map(|ensemble| ensemble.tasks.as_slice()).unwrap_or_default();
    let tasks = request.tasks.as_deref().unwrap_or(given);
    let changes = request.overrides.iter().flatten().map(|(_, change)| change);
    let changes = changes.flat_map(|change| [&change.description, &change.expected_output, &change.additional_context]);
    let texts = tasks.iter().flat_map(Draft::texts).chain(changes.flatten().map(String::as_str));
    let groups = ensemble.map(|ensemble| ensemble.groups.as_slice()).unwrap_or_default().iter().chain(&request.groups);
    let named = tasks.iter().flat_map(expressions).chain(groups.flat_map(group_expressions));
    let named = named.flat_map(named_inputs);
    texts.flat_map(variables).chain(defaults.map(String::as_str)).chain(named).collect()
}

fn expressions(task: &Draft) -> impl Iterator<Item = &str> {
    task.when.iter().chain(&task.each.list).map(String::as_str)
}

fn group_expressions(group: &Group) -> impl Iterator<Item = &str> {
    group.when.iter().chain(&group.each.list).chain(&group.repeat_until).map(String::as_str)
}
