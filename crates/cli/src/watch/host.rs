//! The host of a run that is watched: this process, or a server. Both are followed and
//! steered alike.

use consort_core::decide::{Command, Refused};
use consort_core::event::{CancelMode, Decision};
use consort_core::frame::parse_review_id;
use consort_runtime::engine::{Engine, Error};
use futures::{StreamExt, TryStreamExt};
use serde_json::{Value, json};

use crate::client::events::{EventStream, StreamEvent};
use crate::client::{Call, Client, Failure};
use crate::show::view::Review;

/// The name of the local user in the run's events.
const LOCAL: &str = "local";

/// A run and its host.
#[derive(Clone, Copy)]
pub(crate) enum Host<'a> {
    /// This process; with an address, others can steer it there.
    Here(&'a Engine, &'a str, Option<&'a str>),
    /// A server.
    There(&'a Client, &'a str),
}

/// The result of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    /// It was accepted.
    Yes,
    /// It was refused, for this reason; the review is still open.
    No(String),
}

impl Host<'_> {
    /// Returns all frames of the run, from its beginning.
    pub(super) async fn event_stream(self) -> anyhow::Result<EventStream<anyhow::Error>> {
        Ok(match self {
            Host::Here(engine, run, _) => {
                engine.tail(run, 0).await?.map_ok(|frame| StreamEvent::Frame(frame.into())).err_into().boxed()
            }
            Host::There(client, run) => client.follow(run).await?.err_into().boxed(),
        })
    }

    /// Asks the run to stop at once, if it is not over.
    pub(super) async fn cancel(self) -> anyhow::Result<()> {
        match self {
            Host::Here(engine, run, _) => match engine.command(run, cancel_now()).await {
                Ok(_) | Err(Error::Refused(Refused::Ended { .. }) | Error::NotOwned(_)) => Ok(()),
                Err(error) => Err(error.into()),
            },
            Host::There(client, run) => {
                let call = Call::post(&["runs", run, "cancel"], json!({ "mode": "now" }));
                match client.send(&call).await {
                    Err(Failure::Refused { code, .. }) if code == "RUN_COMPLETED" => Ok(()),
                    sent => Ok(sent.map(drop)?),
                }
            }
        }
    }

    /// Stops the run and waits until it has ended.
    pub(crate) async fn stop(self) {
        if self.cancel().await.is_ok() {
            self.let_go().await;
        }
    }

    /// Decides a review, named by its public id.
    pub(super) async fn decide(self, id: &str, decision: Decision) -> anyhow::Result<Decided> {
        match self {
            Host::Here(engine, run, _) => {
                let Some((_, review)) = parse_review_id(id) else {
                    return Ok(Decided::No("no such review".to_owned()));
                };
                match engine.command(run, Command::Review { review, decision, by: LOCAL.to_owned() }).await {
                    Ok(_) => Ok(Decided::Yes),
                    Err(Error::Refused(refused)) => Ok(Decided::No(refused.to_string())),
                    Err(error) => Err(error.into()),
                }
            }
            Host::There(client, _) => match client.send(&Call::post(&["reviews", id], spoken(&decision))).await {
                Ok(_) => Ok(Decided::Yes),
                // The stream of frames finds out whether the server is gone for good.
                Err(failure) => Ok(Decided::No(failure.to_string())),
            },
        }
    }

    /// Returns the reason why events cannot be stored at the moment, as far as it is known
    /// here.
    pub(super) fn stalled(self) -> Option<String> {
        match self {
            Host::Here(engine, run, _) => engine.stalled(run),
            Host::There(..) => None,
        }
    }

    /// Returns when no task here works on the run any more; on a server it never returns.
    pub(super) async fn let_go(self) {
        match self {
            Host::Here(engine, run, _) => engine.finished(run).await,
            Host::There(..) => std::future::pending().await,
        }
    }

    /// Returns whether the run has ended.
    pub(super) async fn has_ended(self) -> anyhow::Result<bool> {
        match self {
            Host::Here(engine, run, _) => Ok(engine.run(run).await?.end().is_some()),
            Host::There(..) => Ok(true),
        }
    }

    /// Returns whether the run waits only for reviews, and only the person in front of this
    /// process could decide them.
    pub(super) fn needs_person(self) -> bool {
        matches!(self, Host::Here(engine, run, None) if engine.is_parked(run))
    }

    /// Returns a hint about a review that is not decided here.
    pub(super) fn review_hint(self, review: &Review) -> String {
        let id = &review.id;
        match (self, review.due) {
            (Host::Here(_, _, None), Some(_)) => {
                "Nobody can be asked here, so reviews wait until their time is up.".to_owned()
            }
            (Host::Here(_, _, None), None) => format!("Nobody can be asked here, so the review {id} stays open."),
            (Host::Here(_, _, Some(url)), _) => {
                format!("The review stays open: `consort reviews decide {id} approve --url {url}` lets it pass.")
            }
            (Host::There(..), _) => {
                format!("The review stays open: `consort reviews decide {id} approve` lets it pass.")
            }
        }
    }
}

fn cancel_now() -> Command {
    Command::Cancel { mode: CancelMode::Now, by: LOCAL.to_owned() }
}

/// Returns a decision as it is sent.
fn spoken(decision: &Decision) -> Value {
    match decision {
        Decision::Continue => json!({ "decision": "APPROVE" }),
        Decision::ExitEarly => json!({ "decision": "EXIT_EARLY" }),
        Decision::Edit { output } => json!({ "decision": "EDIT", "revisedOutput": output }),
        Decision::Reject { feedback } => json!({ "decision": "REJECT", "feedback": feedback }),
    }
}
