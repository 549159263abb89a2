//! Tests of agents that hand work to each other, and managers that hand it out.

use serde_json::json;

use super::described;
use super::world::{World, ensemble, task};
use consort_spec::agent::Agent;
use consort_spec::draft::{Draft, Ensemble};
use consort_spec::id::Id;
use consort_spec::message::FailureKind;
use consort_spec::spec::Workflow;

fn member(name: &str, role: &str) -> Draft {
    let agent = Agent {
        role: role.to_owned(),
        goal: format!("Be a good {role}"),
        background: String::new(),
        allow_delegation: true,
    };
    Draft { agent: Some(agent), ..task(name, &[]) }
}

fn team() -> Ensemble {
    ensemble(vec![member("a", "Cook"), Draft { model: Some("small".to_owned()), ..member("b", "Waiter") }])
}

fn assignment(role: &str) -> String {
    json!({ "agentRole": role, "taskDescription": "boil an egg" }).to_string()
}

#[test]
fn a_peer_is_handed_work_with_its_own_model_and_its_answer_comes_back() {
    let mut world = World::new(&team());
    world.calls("1", &[("delegate", &assignment("waiter"))]);
    assert_eq!(
        world.told("1.0.0"),
        ["## Task\nboil an egg\n\n## Expected Output\nA complete and accurate response to the task."]
    );
    assert_eq!(world.run.conversations()[&Id::from("1.0.0")].model(), "small");
    world.crash();
    world.answers("1.0.0", "done");
    assert_eq!(world.results("1"), ["done"]);
    let frame = |kind: &str| {
        let mut run = crate::state::run::Run::default();
        world.log.iter().find_map(|event| {
            run.apply(event);
            Some(described::json(&run.frame("r", 0, event))).filter(|frame| frame["type"] == kind)
        })
    };
    let started = frame("delegation_started").unwrap();
    assert_eq!(
        (&started["delegatingAgentRole"], &started["workerRole"], &started["taskDescription"]),
        (&json!("Cook"), &json!("Waiter"), &json!("boil an egg"))
    );
    assert_eq!(frame("delegation_completed").unwrap()["workerRole"], "Waiter");
}

#[test]
fn what_cannot_be_delegated_is_refused_in_words() {
    let mut world = World::new(&Ensemble { max_delegation_depth: Some(1), ..team() });
    world.calls(
        "1",
        &[
            ("delegate", &assignment("cook")),
            ("delegate", &assignment("king")),
            ("delegate", "{}"),
            ("delegate", &assignment("Waiter")),
        ],
    );
    world.calls("1.0.3", &[("delegate", &assignment("Cook"))]);
    assert!(world.results("1.0.3")[0].contains("handed on 1 times"), "{:?}", world.results("1.0.3"));
    world.fails("1.0.3", FailureKind::Refused);
    let results = world.results("1");
    assert!(results[0].contains("yourself") && results[1].contains("there are: Cook, Waiter"), "{results:?}");
    assert!(results[2].contains("agentRole") && results[3].contains("subtask_failed"), "{results:?}");
    let kinds = world.kinds(0);
    assert_eq!(kinds.iter().filter(|kind| *kind == "delegation_failed").count(), 5, "four refusals and one failure");
    assert_eq!(kinds.iter().filter(|kind| *kind == "delegation_started").count(), 1);
}

#[test]
fn a_manager_delegates_and_its_answer_is_the_run_s() {
    let mut world = World::new(&Ensemble { workflow: Some(Workflow::Hierarchical), ..team() });
    assert_eq!(world.places(), ["3"], "only the manager starts");
    assert!(
        world.told("3")[0].contains("1. Do a (expected: A complete")
            && world.told("3")[0].contains("- Waiter: Be a good Waiter")
    );
    world.calls("3", &[("delegateTask", &assignment("Waiter")), ("delegateTask", &assignment("Cook"))]);
    world.answers("3.0.1", "egg");
    world.answers("3.0.0", "served");
    world.answers("3", "all done");
    let result = json!(world.run.result("r"));
    let outputs: Vec<_> =
        result["outputs"].as_array().unwrap().iter().map(|o| (o["taskName"].clone(), o["output"].clone())).collect();
    assert_eq!(
        outputs,
        [(json!("a"), json!("egg")), (json!("b"), json!("served")), (json!("Manager"), json!("all done"))]
    );
    let mut run = crate::state::run::Run::default();
    for event in &world.log {
        run.apply(event);
        let frame = described::json(&run.frame("r", 0, event));
        match frame["type"].as_str().unwrap() {
            "ensemble_started" => assert_eq!(frame["totalTasks"], 2),
            "task_started" | "task_completed" => {
                assert_eq!(
                    (&frame["taskIndex"], &frame["totalTasks"], &frame["agentRole"]),
                    (&json!(1), &json!(1), &json!("Manager"))
                );
            }
            _other => {}
        }
    }
    let detail = json!(world.run.detail("r"));
    assert_eq!((&result["output"], &detail["output"]), (&json!("all done"), &json!("all done")), "the manager's");
    assert_eq!((&detail["taskCount"], &detail["completedTasks"]), (&json!(2), &json!(2)));
    assert_eq!(detail["tasks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_manager_that_hands_out_too_much_is_told_to_finish_with_what_it_has() {
    let capped = |all, own| Ensemble {
        workflow: Some(Workflow::Hierarchical),
        max_delegations: all,
        max_delegations_per_agent: own,
        ..team()
    };
    let waiter = assignment("Waiter");
    let cook = assignment("Cook");
    let calls = [
        ("delegateTask", waiter.as_str()),
        ("delegateTask", &waiter),
        ("delegateTask", &cook),
        ("delegateTask", &cook),
    ];
    for (ensemble, begun, refused) in [
        (capped(Some(3), Some(1)), 2, [1, 3].as_slice()),
        (capped(Some(3), None), 3, &[3]),
        (capped(None, None), 4, &[]),
    ] {
        let mut world = World::new(&ensemble);
        world.calls("3", &calls);
        assert_eq!(world.kinds(0).iter().filter(|kind| *kind == "delegation_started").count(), begun);
        let open: Vec<String> = world.places().iter().map(ToString::to_string).collect();
        open.iter().for_each(|place| world.answers(place, "done"));
        let results = world.results("3");
        for (index, result) in results.iter().enumerate() {
            assert_eq!(result.contains("finish with what you have"), refused.contains(&index), "{index}: {result}");
        }
        world.calls("3", &[("delegateTask", &waiter)]);
        let failed = world.kinds(0).iter().filter(|kind| *kind == "delegation_failed").count();
        assert_eq!(failed, refused.len() + usize::from(!refused.is_empty()), "what was handed out before counts");
        if refused.is_empty() {
            world.answers("3.1.0", "done");
        }
        world.answers("3", "all done");
        assert_eq!(world.run.answer(), Some("all done"));
    }
}

#[test]
fn in_a_hierarchy_every_agent_has_a_role_of_its_own() {
    let clash = ensemble(vec![member("a", "Cook"), member("b", "cook"), member("c", "manager")]);
    let clash = Ensemble { workflow: Some(Workflow::Hierarchical), ..clash };
    let mistakes = consort_spec::compile::compile(&clash, Default::default(), &super::world::catalog()).unwrap_err();
    let places: Vec<&str> = mistakes.iter().map(|mistake| mistake.place.as_str()).collect();
    assert_eq!(places, ["tasks[1].agent.role", "tasks[2].agent.role"]);
}

#[test]
fn agents_nobody_named_are_told_apart_by_their_tasks() {
    let unnamed = |name: &str, description: &str| Draft { description: description.to_owned(), ..task(name, &[]) };
    let drafts = vec![unnamed("soup", "Boil soup"), unnamed("bread", "Bake bread"), unnamed("menu", "Write a menu")];
    let roles = |workflow: Workflow| {
        let ensemble = Ensemble { workflow: Some(workflow), ..ensemble(drafts.clone()) };
        let compiled = consort_spec::compile::compile(&ensemble, Default::default(), &super::world::catalog()).unwrap();
        compiled.spec.tasks.into_iter().map(|task| task.agent.role).collect::<Vec<_>>()
    };
    assert_eq!(roles(Workflow::Hierarchical), ["Agent (soup)", "Agent (bread)", "Writer", "Manager"]);
    assert_eq!(roles(Workflow::Sequential), ["Agent", "Agent", "Writer"], "nobody hands work to them");
}

#[test]
fn peers_are_offered_every_role_once() {
    let unnamed = |name: &str| task(name, &[]);
    let team = vec![member("a", "Cook"), member("b", "cook"), unnamed("c"), unnamed("d")];
    let compiled =
        consort_spec::compile::compile(&ensemble(team), Default::default(), &super::world::catalog()).unwrap();
    let roles = &compiled.belt["delegate"].schema.json()["properties"]["agentRole"]["enum"];
    assert_eq!(*roles, json!(["Cook", "Agent (c)", "Agent (d)"]));
}
