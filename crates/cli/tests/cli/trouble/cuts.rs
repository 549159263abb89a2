//! One of three servers is cut off: from the database, from the other servers, from both; its packets are lost, or its
//! connections end. Without the database others go on with its runs and it refuses to answer; without the links everything
//! goes on, hardly later. `CONSORT_NODE_CUTS` says how often.

use std::time::{Duration, Instant};

use consort_test_postgres::database;
use futures::future::{join, join_all};
use jiff::Timestamp;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::clients::{Clients, Seen, Times, counted};
use super::gate::{Gate, Way};
use super::outside::Outside;
use super::trio::{LEASE, NAMES, Trio, cluster};
use crate::binary::CONSORT;
use crate::dice::{number, say};

/// The cuts of every test run: from the database, and from the others.
const CUTS: u64 = 2;
/// The place of the server that is cut off. It is the last to start, so that the others dial it, and a gate before it is
/// on every link of it.
const CUT_OFF: usize = 2;
/// Runs of that server when it is cut off.
const RUNS: usize = 5;
/// The time of an answer and of a call.
const PAUSE: Duration = Duration::from_millis(50);
/// The times that hold at full numbers: until others have its runs, and until an event comes without links.
const TAKE_OVER_MAX: Duration = Duration::from_secs(LEASE.as_secs() + 2);
const LATE_MAX: Duration = Duration::from_secs(1);
/// The longest time until a server without its database says so.
const REFUSAL_MAX: Duration = Duration::from_secs(10);

/// The things that a server is cut off from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Database,
    Servers,
    Both,
}

/// The servers, and the gates of the one that is cut off.
struct Field {
    trio: Trio,
    clients: Clients,
    outside: Outside,
    database: Gate,
    links: Gate,
    is_full: bool,
}

/// A run of the server that is cut off, with those who follow it there and at another one.
struct Followed {
    run: String,
    here: JoinHandle<Vec<Seen>>,
    there: JoinHandle<Vec<Seen>>,
}

fn work(text: &str) -> Value {
    json!({ "tasks": [{ "name": "a", "description": text, "tools": ["door"] }] })
}

impl Field {
    async fn start(is_full: bool) -> Option<Field> {
        let database = database().await?;
        let outside = Outside::start(PAUSE, true).await;
        let server = "[server]\nmax_concurrent_runs = 100\nmax_retained_completed_runs = 100000\n";
        let gate = Gate::before(database.host());
        let mut links = None;
        let settings = |place: usize, port: u16| {
            let base = format!("{}{server}", outside.config(""));
            if place != CUT_OFF {
                return format!("{base}{}", cluster(database.url()));
            }
            let before = links.insert(Gate::before(format!("127.0.0.1:{port}")));
            format!("{base}{}address = 'http://127.0.0.1:{}'\n", cluster(&database.through(gate.port)), before.port)
        };
        let trio = Trio::start_as(CONSORT, settings).await;
        let clients = Clients::of(&trio);
        Some(Field { trio, clients, outside, database: gate, links: links?, is_full })
    }

    /// Returns whether a run is worked on by the server that is cut off.
    async fn is_its(&self, run: &str) -> bool {
        let is_adoption = |event: &&Value| event["type"] == "run_adopted";
        let path = format!("/api/runs/{run}/events");
        let adopted = |events: &Value| events["events"].as_array().unwrap().iter().any(|event| is_adoption(&event));
        let events = self.trio.until(0, &path, adopted).await;
        events["events"].as_array().unwrap().iter().filter(is_adoption).all(|event| event["node"] == NAMES[CUT_OFF])
    }

    /// Begins runs at the server that is cut off; returns those that it works on, once their model was asked.
    async fn begin(&self, text: &str, runs: usize) -> Vec<Followed> {
        let mut begun = Vec::new();
        let before = self.outside.questions().len();
        let mut count = 0;
        while begun.len() < runs {
            let run = self.clients.begin(CUT_OFF, &work(text)).await;
            count += 1;
            if self.is_its(&run).await {
                let here = tokio::spawn(self.clients.clone().follow(run.clone(), CUT_OFF));
                let there = tokio::spawn(self.clients.clone().follow(run.clone(), 0));
                begun.push(Followed { run, here, there });
            }
        }
        while self.outside.questions().len() < before + count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        begun
    }

    /// Returns the time until the server that is cut off refuses each kind of request: it never answers what it knew.
    async fn refused(&self, run: &str) -> Times {
        let detail = format!("/api/runs/{run}");
        let events = format!("/api/runs/{run}/events");
        let asked =
            ["/api/runs?limit=10", &detail, &events, "/api/cluster"].map(|path| self.clients.get(CUT_OFF, path));
        let mut times = Times::default();
        join_all(asked.map(refusal)).await.into_iter().for_each(|time| times.add(time));
        if !self.is_full {
            return times;
        }
        // The server knows by now: before that, nobody would know whether it is stored.
        times.add(refusal(self.clients.post(CUT_OFF, "/api/runs", &work("refused"))).await);
        times
    }

    /// Sends new work to the server when it has just been cut off. Whether it is stored may not be known for as long as
    /// it is; returns its number, and its answer, in the end.
    fn begin_in_flight(&self) -> (String, JoinHandle<Response>) {
        let number = self.outside.questions().len().to_string();
        let mut body = work("in flight");
        body["tags"] = json!({ "cut": number });
        let sent = self.clients.post(CUT_OFF, "/api/runs", &body).send();
        (number, tokio::spawn(async { sent.await.unwrap() }))
    }

    /// Checks that the answer to what was in flight is true: a run that was refused is not there, and any other ends.
    async fn check_in_flight(&self, number: &str, answer: Response) -> u16 {
        let status = answer.status().as_u16();
        let answer = answer.text().await.unwrap();
        assert!(matches!(status, 202 | 503), "{status} {answer}");
        let count = u64::from(status == 202);
        for place in 0..3 {
            let path = format!("/api/runs?tag=cut:{number}&limit=1");
            let (_, listed) = self.trio.get(place, &path).await;
            assert_eq!(listed["total"], count, "after {status} {answer}, at {place}: {listed}");
            let path = format!("{path}&status=completed");
            self.trio.until(place, &path, |listed| listed["total"] == count).await;
        }
        status
    }

    /// Cuts the server off from the database, and maybe from the others, too.
    async fn without_database(&self, from: From, way: Way) {
        self.outside.answers.send_replace(false);
        let begun = self.begin("through the door", RUNS).await;
        let cut = Timestamp::now().as_millisecond();
        self.database.set(way);
        if from == From::Both {
            self.links.set(way);
        }
        let taken = async {
            let is_gone = |cluster: &Value| cluster["nodes"].as_array().unwrap().len() == 2;
            self.trio.until(0, "/api/cluster", is_gone).await;
            self.outside.answers.send_replace(true);
        };
        let (number, in_flight) = self.begin_in_flight();
        let (refusals, ()) = join(self.refused(&begun[0].run), taken).await;
        let mut times = Times::default();
        let mut here = Vec::new();
        for Followed { run, here: following, there } in begun {
            let events = there.await.unwrap();
            let takeover = events.iter().find(|event| event.is_adoption("takeover"));
            let took = takeover.unwrap_or_else(|| panic!("nobody went on with {run}: {events:#?}")).at() - cut;
            times.add(Duration::from_millis(u64::try_from(took).unwrap_or_default()));
            here.push((following, events.len()));
        }
        let opened = Instant::now();
        self.database.set(Way::Open);
        self.links.set(Way::Open);
        self.trio.until(CUT_OFF, "/api/runs?limit=1", |_listed| true).await;
        let back = opened.elapsed();
        let in_flight = self.check_in_flight(&number, in_flight.await.unwrap()).await;
        self.trio.all_linked().await;
        let linked = opened.elapsed();
        for (following, length) in here {
            assert_eq!(following.await.unwrap().len(), length, "events at the server that was cut off");
        }
        say(&format!(
            "cut off from {from:?}, {way:?}: taken over {}; refused {}; in flight at the cut: {in_flight}; back after {back:.0?}, with links after {linked:.0?}",
            times.told(),
            refusals.told()
        ));
        if self.is_full {
            assert!(times.percentile(100) <= TAKE_OVER_MAX, "{}", times.told());
            assert!(refusals.percentile(100) <= REFUSAL_MAX, "{}", refusals.told());
        }
    }

    /// Cuts the server off from the others.
    async fn without_links(&self, way: Way) {
        self.outside.answers.send_replace(false);
        let begun = self.begin("through the door", RUNS).await;
        let cut = Instant::now();
        self.links.set(way);
        self.outside.answers.send_replace(true);
        let mut late = Times::default();
        for Followed { run, here, there } in begun {
            let here = here.await.unwrap();
            let there = there.await.unwrap();
            assert_eq!(here.len(), there.len(), "{run}");
            let both = here.iter().zip(&there).filter(|(here, _)| here.came > cut);
            both.for_each(|(here, there)| late.add(there.came.saturating_duration_since(here.came)));
        }
        let ordered = self.stopped_from_elsewhere().await;
        self.trio.until(CUT_OFF, "/api/status", |status| status["links"] == "none").await;
        self.trio.until(0, "/api/status", |status| status["links"] == "some").await;
        let said = cut.elapsed();
        let opened = Instant::now();
        self.links.set(Way::Open);
        self.trio.all_linked().await;
        let linked = opened.elapsed();
        say(&format!(
            "cut off from {:?}, {way:?}: events elsewhere {} later; a run stopped from elsewhere in {ordered:.0?}; \
            said after {said:.0?}; linked again after {linked:.0?}",
            From::Servers,
            late.told()
        ));
        if self.is_full {
            assert!(late.percentile(100) <= LATE_MAX, "{}", late.told());
        }
    }

    /// Stops a run of the server that is cut off at another one; returns the time that it took.
    async fn stopped_from_elsewhere(&self) -> Duration {
        let Followed { run, here, there } = self.begin("slow", 1).await.remove(0);
        let began = Instant::now();
        let stop = self.clients.post(0, &format!("/api/runs/{run}/cancel"), &json!({ "mode": "now" }));
        let answer = stop.send().await.unwrap();
        let took = began.elapsed();
        let status = answer.status();
        assert!(status.is_success(), "{status}: {}", answer.text().await.unwrap());
        assert_eq!(here.await.unwrap().len(), there.await.unwrap().len(), "{run}");
        took
    }
}

/// Returns the time until a request is refused, because the store cannot be used.
async fn refusal(request: RequestBuilder) -> Duration {
    let began = Instant::now();
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let is_to_come_again = answer.headers().contains_key("retry-after");
    let problem: Value = answer.json().await.unwrap_or_default();
    let code = problem["error"].as_str().unwrap_or_default();
    assert_eq!((status, code, is_to_come_again), (503, "STORAGE_UNAVAILABLE", true), "{problem}");
    began.elapsed()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_is_cut_off_refuses_what_it_cannot_know_and_others_go_on_with_its_runs() {
    let wanted = number("CONSORT_NODE_CUTS");
    let Some(field) = Field::start(wanted.is_some()).await else { return };
    for cut in 0..wanted.unwrap_or(CUTS) {
        let way = if cut % 2 == 0 { Way::Still } else { Way::Closed };
        match [From::Database, From::Servers, From::Both][cut as usize % 3] {
            From::Servers => field.without_links(way).await,
            from @ (From::Database | From::Both) => field.without_database(from, way).await,
        }
    }
    let listed = join_all((0..3).map(|place| field.trio.get(place, "/api/runs?limit=500"))).await;
    assert!(listed.iter().all(|(status, runs)| *status == 200 && *runs == listed[0].1), "every server lists the same");
    let failures = field.clients.failures();
    let others: Vec<_> = failures.iter().filter(|failure| failure.place != CUT_OFF).collect();
    say(&format!("answers of the others that clients should not get: {}", counted(others.iter().copied())));
    assert!(others.is_empty(), "{others:#?}");
    field.outside.check_calls();
}
