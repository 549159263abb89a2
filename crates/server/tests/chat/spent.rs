//! Tests the usage of conversations, turn by turn.

use consort_core::message::Usage;

use super::*;

#[tokio::test]
async fn turns_are_listed_with_what_they_used_the_newest_first_to_their_owner_only() {
    let usage = Usage { input: 7, output: 3, ..Usage::default() };
    let model = ScriptedModel::new()
        .when(hears("and now?"), Line::new().says("nobody counts"))
        .otherwise(Line::new().says("certainly").uses(usage));
    let server = server(engine(model, Capacity::UNLIMITED), Vec::new());
    let chats = server.chats.clone();
    let here = start(server).await;
    let one = thread(&here).await;
    let other = thread(&here).await;
    converse(&here, &one, "hello").await;
    converse(&here, &other, "hello again").await;
    converse(&here, &one, "and now?").await;

    let listed = here.get("/api/turns").await.json();
    let turns = listed["turns"].as_array().unwrap();
    let said = |turn: &Value| (turn["threadId"].clone(), turn["totalTokens"].clone(), turn["status"].clone());
    let done = json!("COMPLETED");
    assert_eq!(
        turns.iter().map(said).collect::<Vec<_>>(),
        [(json!(one), json!(-1), done.clone()), (json!(other), json!(10), done.clone()), (json!(one), json!(10), done)]
    );
    let first = &messages(&here, &one).await[0];
    assert_eq!((&turns[2]["turnId"], &listed["total"]), (&first["turn_id"], &json!(3)));
    assert!(turns.iter().all(|turn| turn["totalUsd"].is_null()), "no model has a price");

    let page = here.get("/api/turns?limit=1&offset=1").await.json();
    assert_eq!((&page["turns"], &page["total"]), (&json!([turns[1]]), &json!(3)));
    assert_eq!(here.get("/api/turns?limit=0").await.problem(), (400, "BAD_REQUEST".to_owned()));
    assert_eq!(chats.spent("somebody else", 0, 10).await.unwrap(), (Vec::new(), 0));

    let deleted = here.send(&format!("DELETE /api/threads/{one} HTTP/1.1\r\nHost: localhost"), b"").await;
    assert_eq!((deleted.status, here.get("/api/turns").await.json()["total"].clone()), (204, json!(1)));
}
