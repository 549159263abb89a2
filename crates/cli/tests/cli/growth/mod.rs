//! The real binary under everything that could make it grow: what it compiles and fills in, names that clients
//! make up, and clients that send much and read little. Its memory stays within a limit at every moment, and it
//! answers as before.

mod compiled;
mod kept;
mod model;
mod names;
mod target;

use std::time::Instant;

use futures::future::BoxFuture;

use self::model::HostileModel;
use self::target::Target;
use crate::dice::{number, say};

/// The variable that sets how often everything is tried on the same server.
const ROUNDS: &str = "CONSORT_GROWTH_ROUNDS";
const ROUNDS_DEFAULT: u64 = 1;

/// An attack: it ends when everything is answered. The number of the round makes its names new ones.
type Attack = for<'a> fn(&'a Target, u64) -> BoxFuture<'a, ()>;

const ATTACKS: [(&str, Attack); 19] = [
    ("schemas and patterns", |target, _| Box::pin(compiled::schemas(target))),
    ("schemas of a client's own tools", |target, _| Box::pin(compiled::manifests(target))),
    ("schemas of peers", |target, round| Box::pin(compiled::peers(target, round))),
    ("schemas of a model's subtasks", |target, _| Box::pin(model::subtasks(target))),
    ("answers without an end", |target, _| Box::pin(model::long_answers(target))),
    ("templates", |target, _| Box::pin(compiled::templates(target))),
    ("templates of saved workflows", |target, _| Box::pin(compiled::workflows(target))),
    ("expressions", |target, _| Box::pin(compiled::expressions(target))),
    ("idempotency keys", |target, round| Box::pin(names::keys(target, round))),
    ("unknown ids", |target, round| Box::pin(names::ids(target, round))),
    ("names of tools", |target, round| Box::pin(names::tools(target, round))),
    ("headers and addresses", |target, round| Box::pin(names::headers(target, round))),
    ("guesses from many addresses", |target, round| Box::pin(names::guesses(target, round))),
    ("bodies that are too large or too deep", |target, _| Box::pin(kept::bodies(target))),
    ("subscriptions", |target, _| Box::pin(kept::subscriptions(target))),
    ("readers that do not read", |target, _| Box::pin(kept::slow_readers(target))),
    ("half-sent requests", |target, _| Box::pin(kept::half_sent(target))),
    ("documents and messages", |target, round| Box::pin(kept::large_things(target, round))),
    ("files", |target, _| Box::pin(kept::files(target))),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_under_every_attack_grows_by_200_megabytes_at_most_and_answers() {
    let rounds = number(ROUNDS).unwrap_or(ROUNDS_DEFAULT);
    let folder = tempfile::tempdir().unwrap();
    let model = HostileModel::start().await;
    let mut target = Target::start(folder.path(), &model.config()).await;
    for round in 0..rounds {
        for (name, attack) in ATTACKS {
            let began = Instant::now();
            attack(&target, round).await;
            let grown = target.check(name).await;
            let took = began.elapsed().as_secs_f64();
            say(&format!("round {round}, {name}: {:.0} MB more than at the start, {took:.1} s", grown as f64 / 1e6));
        }
    }
    target.end();
}
