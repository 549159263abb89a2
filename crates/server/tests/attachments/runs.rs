//! Attachments of runs and tasks.

use super::*;

/// Starts a run and waits for its end.
async fn run(here: &Here, request: Value) -> Answer {
    here.post_with("/api/runs", "Prefer: wait=60", request).await
}

async fn text(here: &Here, name: &str, words: &str) -> String {
    let named = format!("Content-Type: text/plain\r\nContent-Disposition: attachment; filename=\"{name}\"");
    upload(here, &named, words.as_bytes()).await.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_files_of_a_run_go_to_every_task_without_its_own_and_are_erased_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(folder.path()) {
        let model = says("done");
        let here = start(over(log.clone(), &model)).await;
        let of_run = text(&here, "run.txt", "of the run").await;
        let of_task = text(&here, "task.txt", "of the task").await;
        let tasks = json!([{ "description": "A" }, { "description": "B", "attachments": ["{plan}"] }]);
        let request = json!({ "tasks": tasks, "attachments": [of_run], "inputs": { "plan": of_task } });
        let ended = run(&here, request).await;
        assert_eq!((ended.status, &ended.json()["status"]), (200, &json!("COMPLETED")), "{ended:?}");
        for (place, shown, hidden) in [("1.0", "of the run", "of the task"), ("2.0", "of the task", "of the run")] {
            let words = users_words(&model.sent(place).unwrap()).join("\n");
            assert!(words.contains(shown) && !words.contains(hidden), "{place}: {words}");
        }
        let path = format!("/api/attachments/{of_task}");
        assert_eq!(remove(&here, &path).await.problem(), (409, "ATTACHMENT_USED".to_owned()));
        assert_eq!(stored(&log).await, [2, 2, 2]);
        let id = ended.json()["runId"].as_str().unwrap().to_owned();
        let forked = here.post(&format!("/api/runs/{id}/fork"), json!({ "seq": 1 })).await;
        assert_eq!(forked.status, 202, "{forked:?}");
        let again = forked.json()["runId"].as_str().unwrap().to_owned();
        while here.get(&format!("/api/runs/{again}")).await.json()["status"] != "COMPLETED" {}
        assert!(remove(&here, &format!("/api/runs/{id}")).await.status < 300);
        assert_eq!(here.get(&path).await.status, 200, "another run uses it");
        assert!(remove(&here, &format!("/api/runs/{again}")).await.status < 300);
        assert_eq!(here.get(&path).await.problem(), (404, "ATTACHMENT_NOT_FOUND".to_owned()));
        assert_eq!(stored(&log).await, [0, 0, 0]);
    }
}

/// Forks a run before its first task, with another picture, and waits for the new run's end.
async fn with_picture(here: &Here, run: &str, picture: &str) -> Answer {
    let edits = json!({ "seq": 1, "inputs": { "picture": picture } });
    here.post_with(&format!("/api/runs/{run}/fork"), "Prefer: wait=120", edits).await
}

#[tokio::test]
async fn a_fork_shows_the_picture_that_its_inputs_name_and_a_task_that_had_begun_keeps_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for log in logs(folder.path()) {
        let model = says("done");
        let here = start(over(log.clone(), &model)).await;
        let first = picture(&here).await;
        let plan = text(&here, "plan.txt", "the plan").await;
        let other = upload(&here, "Content-Type: image/png", OTHER_PNG).await.json()["id"].as_str().unwrap().to_owned();
        // A picture that is named by an input, between files that are not.
        let task = json!({ "description": "Look", "model": "eyes", "attachments": [plan, "{picture}", plan] });
        let ended = run(&here, json!({ "tasks": [task], "inputs": { "picture": first } })).await.json();
        assert_eq!((&ended["status"], pictures(&model.sent("1.0").unwrap())), (&json!("COMPLETED"), vec![base64(PNG)]));
        let id = ended["runId"].as_str().unwrap();
        let forked = with_picture(&here, id, &other).await;
        assert_eq!((forked.status, &forked.json()["status"]), (200, &json!("COMPLETED")), "{forked:?}");
        let sent = model.sent("1.0").unwrap();
        assert_eq!(pictures(&sent), [base64(OTHER_PNG)]);
        assert_eq!(users_words(&sent).join("\n").matches("the plan").count(), 2, "{sent:?}");
        // The new run uses it, also once it is forked again.
        let again = forked.json()["runId"].as_str().unwrap().to_owned();
        assert_eq!(remove(&here, &format!("/api/attachments/{other}")).await.problem().0, 409);
        let back = with_picture(&here, &again, &first).await.json();
        assert_eq!((&back["status"], pictures(&model.sent("1.0").unwrap())), (&json!("COMPLETED"), vec![base64(PNG)]));
        // All of it is kept: nothing is left to be shown anything.
        let edits = json!({ "inputs": { "picture": other } });
        let kept = here.post_with(&format!("/api/runs/{id}/fork"), "Prefer: wait=120", edits).await;
        assert_eq!((kept.status, &kept.json()["status"]), (200, &json!("COMPLETED")), "{kept:?}");
        assert_eq!(pictures(&model.sent("1.0").unwrap()), [base64(PNG)], "it was not asked again");
        for unknown in ["att-none", "/etc/hostname"] {
            assert_eq!(with_picture(&here, id, unknown).await.problem(), (400, "BAD_REQUEST".to_owned()));
        }
        let runs = here.get("/api/runs").await.json()["runs"].clone();
        for run in runs.as_array().unwrap() {
            let path = format!("/api/runs/{}", run["runId"].as_str().unwrap());
            assert!(remove(&here, &path).await.status < 300);
        }
        assert_eq!(stored(&log).await, [0, 0, 0]);
    }
}

#[tokio::test]
async fn a_fork_is_refused_a_picture_for_a_model_that_sees_none() {
    let here = start(in_memory()).await;
    let plan = text(&here, "plan.txt", "the plan").await;
    let tasks = json!([{ "description": "Look", "attachments": ["{picture}"] }]);
    let ended = run(&here, json!({ "tasks": tasks, "inputs": { "picture": plan } })).await.json();
    let refused = with_picture(&here, ended["runId"].as_str().unwrap(), &picture(&here).await).await;
    assert_eq!(refused.problem(), (400, "MODEL_CANNOT_SEE".to_owned()));
}

#[tokio::test]
async fn a_run_is_refused_files_that_are_not_there_and_pictures_its_models_cannot_see() {
    let here = start(in_memory()).await;
    let seen = picture(&here).await;
    let task = |attachments: Value| json!([{ "description": "A", "attachments": attachments }]);
    for (request, code) in [
        (json!({ "tasks": task(json!([seen])) }), "MODEL_CANNOT_SEE"),
        (json!({ "inputs": { "topic": "x" }, "attachments": [seen] }), "MODEL_CANNOT_SEE"),
        (json!({ "tasks": task(json!(["/etc/hostname"])) }), "BAD_REQUEST"),
        (json!({ "tasks": task(json!(["{x}"])), "inputs": { "x": "/etc/hostname" } }), "BAD_REQUEST"),
        (json!({ "tasks": task(json!("x")) }), "BAD_REQUEST"),
        (json!({ "tasks": task(json!(vec!["x"; 21])) }), "BAD_REQUEST"),
        (json!({ "tasks": task(json!(["{x}"])) }), "MISSING_INPUT"),
    ] {
        let refused = here.post("/api/runs", request.clone()).await;
        assert_eq!(refused.problem(), (400, code.to_owned()), "{request}");
        let mut rehearsal = request.clone();
        rehearsal["dryRun"] = true.into();
        assert_eq!(here.post("/api/runs", rehearsal).await.problem(), (400, code.to_owned()), "{request}");
    }
    let seeing = json!([{ "description": "A", "model": "eyes", "attachments": [seen] }]);
    assert_eq!(run(&here, json!({ "tasks": seeing })).await.json()["status"], "COMPLETED");
}

#[tokio::test]
async fn a_file_of_the_machine_that_the_ensemble_names_is_stored_with_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.md");
    std::fs::write(&path, "# Plan").unwrap();
    for log in logs(folder.path()) {
        let model = says("done");
        let draft = Draft { attachments: vec![AttachmentSource::File(path.clone())], ..task("a") };
        let mut server = over(log.clone(), &model);
        server.ensemble.tasks = vec![draft];
        let here = start(server).await;
        let ended = run(&here, json!({ "inputs": { "topic": "x" } })).await;
        assert_eq!(ended.json()["status"], "COMPLETED", "{ended:?}");
        let words = users_words(&model.sent("1.0").unwrap()).join("\n");
        assert!(words.ends_with("## Attached file: plan.md\n\n# Plan"), "{words}");
        assert_eq!(stored(&log).await, [1, 1, 1]);
        let id = ended.json()["runId"].as_str().unwrap().to_owned();
        assert!(remove(&here, &format!("/api/runs/{id}")).await.status < 300);
        assert_eq!(stored(&log).await, [0, 0, 0]);
    }
}
