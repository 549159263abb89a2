//! Tests of calls whose arguments a person changed, and of the files of a message.

use serde_json::json;

use super::chats::{frames, rules, tools, turn};
use super::world::World;
use crate::chat::{self, Answer, Command as Ask, LIMITS, Mode, Order};
use crate::decisions::decide::{Command, Refused};
use crate::decisions::next::Effect;
use consort_spec::message::Attached;

#[test]
fn a_call_is_made_with_the_arguments_a_person_changed_and_the_model_reads_which() {
    let mut world = turn(Mode::Default, LIMITS);
    world.calls("1", &[("pay", r#"{"n":1}"#)]);
    let answer = |world: &mut World, answer, args: &str| {
        let by = "me".to_owned();
        world.command(Command::Chat(Ask::Approve { approval: 0, answer, by, args: Some(args.into()) }))
    };
    let refused = |world: &mut World, word, args: &str| match answer(world, word, args) {
        Err(Refused::UnfitArguments(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(&mut world, Answer::Allow, r#"{"n":"many"}"#).contains("integer"), "the schema holds");
    assert!(refused(&mut world, Answer::Allow, "[1]").contains("object"));
    assert!(refused(&mut world, Answer::Allow, "{").contains("EOF"));
    for word in [Answer::AllowForChat, Answer::Deny] {
        assert!(refused(&mut world, word, r#"{"n":2}"#).contains(word.word()));
    }
    answer(&mut world, Answer::Allow, r#"{"n":2}"#).unwrap();
    world.crash();
    let args = |world: &World| match &world.waiting[..] {
        [Effect::Call { args, .. }] => args.clone(),
        other => panic!("{other:?}"),
    };
    let frames = frames(&world);
    let resolved = frames.iter().find(|frame| frame["type"] == "tool_approval_resolved").unwrap();
    assert_eq!(resolved["args"], json!({ "n": 2 }));
    assert_eq!(world.results("1").len(), 1, "what may have been done once is not done again");
    let mut world = turn(Mode::Default, LIMITS);
    world.calls("1", &[("pay", r#"{"n":1}"#)]);
    answer(&mut world, Answer::Allow, r#"{"n":2}"#).unwrap();
    assert_eq!(args(&world), json!({ "n": 2 }));
    world.returns("1.0.0", "paid 2");
    let told = world.results("1");
    assert_eq!(told, ["[the user changed the arguments of this call to {\"n\":2}]\npaid 2"]);
    world.answers("1", "done");
    let tree = world.run.rows().last().unwrap().tree.clone().unwrap();
    assert!(tree["nodes"][0]["args_preview"].as_str().unwrap().contains('2'), "{tree}");
}

#[test]
fn a_message_frame_names_the_files_of_its_message() {
    let file =
        Attached { id: "f".to_owned(), name: "plan.txt".to_owned(), media_type: "text/plain".to_owned(), bytes: 3 };
    let turn = chat::Turn { thread: "t".to_owned(), content: "hello".into(), files: vec![file], ..Default::default() };
    let rules = rules(Mode::Default, LIMITS);
    let world = World::of(chat::compile(Order { turn, ..Order::default() }, &rules, &tools()).unwrap());
    let said = frames(&world).into_iter().find(|frame| frame["type"] == "message").unwrap();
    assert_eq!(said["attachments"][0]["name"], "plan.txt");
}
