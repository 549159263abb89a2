//! One request on its way: sent to the best provider, moved to the next when
//! its effect allows, asked for again when the link comes back, withdrawn when
//! nobody wants it any more.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::EffectClass;
use tokio::time::timeout;

use crate::network::{Network, Waiting};
use crate::wire::{Response, Status};
use crate::work::Request;

/// What came of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    /// Somebody answered.
    Answered(Response),
    /// It certainly was not done.
    NotDone(String),
    /// It may or may not have been done.
    InDoubt(String),
}

/// A request that is withdrawn when this is dropped.
struct Wanted<'a> {
    network: &'a Network,
    peer: &'a str,
    id: &'a str,
    armed: bool,
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.network.cancel(self.peer, self.id);
        }
    }
}

/// Carries a request to one of the providers, the first one first.
pub(crate) async fn carry(
    network: &Network,
    request: Request,
    effect: EffectClass,
    mut providers: VecDeque<Arc<str>>,
) -> Fate {
    let mut trouble = "nobody shares it".to_owned();
    while let Some(peer) = providers.pop_front() {
        match deliver(network, &peer, &request).await {
            Fate::Answered(Response { status: Status::Rejected, error, .. }) => {
                trouble = format!("{peer} did not take it on: {}", error.unwrap_or_default());
            }
            answered @ Fate::Answered(_) => return answered,
            Fate::NotDone(why) => trouble = why,
            Fate::InDoubt(why) => match effect {
                EffectClass::Read | EffectClass::Idempotent if !providers.is_empty() => trouble = why,
                EffectClass::Read | EffectClass::Idempotent | EffectClass::Once => {
                    return resume(network, &peer, request, effect).await;
                }
            },
        }
    }
    Fate::NotDone(trouble)
}

/// Sends a request over the link there is and waits for the answer.
async fn deliver(network: &Network, peer: &str, request: &Request) -> Fate {
    let id = request.id();
    let Some((outbox, parcel, waiting)) = network.post(peer, id, request.clone().frame()) else {
        return Fate::NotDone(format!("{peer} is not connected"));
    };
    let mut wanted = Wanted { network, peer, id, armed: true };
    let Waiting { answer, mut left } = waiting;
    let posted = outbox.send(parcel).await.is_ok();
    let fate = match answer.await {
        Ok(response) => Fate::Answered(response),
        Err(_gone) if posted && left.try_recv().is_ok() => {
            Fate::InDoubt(format!("the connection to {peer} broke before it answered"))
        }
        Err(_gone) => Fate::NotDone(format!("the connection to {peer} broke")),
    };
    wanted.armed = matches!(fate, Fate::InDoubt(_));
    fate
}

/// Waits for a peer to come back and asks what became of a request it may have.
async fn resume(network: &Network, peer: &str, request: Request, effect: EffectClass) -> Fate {
    let again = match effect {
        EffectClass::Read | EffectClass::Idempotent => request,
        // Whoever does not know it must not begin it: it may have been done and forgotten.
        EffectClass::Once => request.resumed(),
    };
    let patience: Duration = network.options().lease * 2;
    let asked = async {
        let mut changes = network.changes();
        loop {
            match deliver(network, peer, &again).await {
                Fate::NotDone(_) | Fate::InDoubt(_) => {
                    let _alive = changes.changed().await;
                }
                answered @ Fate::Answered(_) => return answered,
            }
        }
    };
    let lost = format!("the connection to {peer} broke before it answered, and did not come back in time");
    match timeout(patience, asked).await {
        Ok(answered) => answered,
        Err(_elapsed) => match effect {
            EffectClass::Read => Fate::NotDone(lost),
            EffectClass::Idempotent | EffectClass::Once => Fate::InDoubt(lost),
        },
    }
}
