//! Tests that the output of a run is the same in its detail and in its result.

use serde_json::{Value, json};

use super::world::{World, ensemble, task};
use crate::decisions::decide::Command;
use consort_spec::draft::Draft;
use consort_spec::event::CancelMode;
use consort_spec::message::FailureKind;

/// Returns `output` and `parsedOutput` of the detail, which must equal those of the result.
fn output(world: &World) -> (Value, Option<Value>) {
    let detail = json!(world.run.detail("r"));
    let result = json!(world.run.result("r"));
    let said = |value: &Value| (value.get("output").cloned().unwrap(), value.get("parsedOutput").cloned());
    assert_eq!(said(&detail), said(&result));
    said(&detail)
}

#[test]
fn the_last_output_is_the_run_s_as_text_and_as_data() {
    let schema = json!({ "type": "object", "required": ["n"] });
    let counted = |name: &str| Draft { output_schema: Some(schema.clone()), ..task(name, &[]) };
    let mut world = World::new(&ensemble(vec![counted("a"), counted("b")]));
    assert_eq!(output(&world), (Value::Null, None), "it has not ended");
    world.answers("1", r#"{"n": 1}"#);
    assert_eq!(output(&world), (Value::Null, None));
    let chatter = "Sure!\n```json\n{\"n\": 2}\n```";
    world.answers("2", chatter);
    assert_eq!(output(&world), (json!(chatter), Some(json!({ "n": 2 }))));
    let result = json!(world.run.result("r"));
    let entries = result["outputs"].as_array().unwrap();
    let parsed: Vec<&Value> = entries.iter().map(|entry| &entry["parsedOutput"]).collect();
    assert_eq!(parsed, [&json!({ "n": 1 }), &json!({ "n": 2 })]);

    let mut plain = World::new(&ensemble(vec![task("a", &[])]));
    plain.answers("1", "words");
    assert_eq!(output(&plain), (json!("words"), None));
    assert!(json!(plain.run.result("r"))["outputs"][0].get("parsedOutput").is_none());
}

#[test]
fn a_run_that_did_not_complete_has_no_output() {
    let begun = || {
        let mut world = World::new(&ensemble(vec![task("a", &[]), task("b", &[])]));
        world.answers("1", "first");
        world
    };
    let mut failed = begun();
    failed.fails("2", FailureKind::Refused);
    failed.fails("2", FailureKind::Refused);
    let mut cancelled = begun();
    cancelled.command(Command::Cancel { mode: CancelMode::Now, by: "me".to_owned() }).unwrap();
    for (world, status) in [(failed, "FAILED"), (cancelled, "CANCELLED")] {
        assert_eq!((world.status(), output(&world)), (status, (Value::Null, None)));
        assert_eq!(json!(world.run.result("r"))["outputs"][0]["output"], "first", "what was done is kept");
    }
}
