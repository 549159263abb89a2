//! One request on its way: sent to the best provider, moved to the next when
//! its effect allows, asked for again when the link comes back, withdrawn when
//! nobody wants it any more.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::EffectClass;
use consort_runtime::tool::Account;
use futures::future::join_all;
use tokio::time::timeout;

use crate::network::{Network, Posted};
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

/// A request and whom it is for.
pub(crate) struct Courier<'a> {
    /// The way.
    pub(crate) network: &'a Network,
    /// What doing it twice would mean.
    pub(crate) effect: EffectClass,
    /// Who waits for it.
    pub(crate) account: &'a Account,
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

impl Courier<'_> {
    /// Carries a request to one of the providers, the first one first. When the
    /// run is to stop, whoever may be at it is told so, and this returns when
    /// all of them have said what became of it.
    pub(crate) async fn carry(&self, request: Request, providers: VecDeque<Arc<str>>) -> Fate {
        let mut asked = Vec::new();
        tokio::select! {
            fate = self.convey(&request, providers, &mut asked) => return fate,
            () = self.account.stopped() => {}
        }
        let again = request.resumed();
        let told = join_all(asked.iter().map(|peer| self.insist(peer, &again))).await;
        let last = told.into_iter().next_back();
        last.map_or_else(|| Fate::NotDone("it was stopped before anybody had begun".to_owned()), Fate::Answered)
    }

    /// Asks one provider after the other; `asked` are those that may have begun.
    async fn convey(&self, request: &Request, mut providers: VecDeque<Arc<str>>, asked: &mut Vec<Arc<str>>) -> Fate {
        let mut trouble = "nobody shares it".to_owned();
        while let Some(peer) = providers.pop_front() {
            asked.push(peer.clone());
            match self.deliver(&peer, request).await {
                Fate::Answered(Response { status: Status::Rejected, error, .. }) => {
                    asked.pop();
                    trouble = format!("{peer} did not take it on: {}", error.unwrap_or_default());
                }
                answered @ Fate::Answered(_) => return answered,
                Fate::NotDone(why) => {
                    asked.pop();
                    trouble = why;
                }
                Fate::InDoubt(why) => match self.effect {
                    EffectClass::Read | EffectClass::Idempotent if !providers.is_empty() => trouble = why,
                    EffectClass::Read | EffectClass::Idempotent | EffectClass::Once => {
                        return self.resume(&peer, request).await;
                    }
                },
            }
        }
        Fate::NotDone(trouble)
    }

    /// Sends a request over the link there is and waits for the answer.
    async fn deliver(&self, peer: &str, request: &Request) -> Fate {
        let (network, id) = (self.network, request.id());
        let Posted { outbox, parcel, answer, mut left } = match network.post(peer, request, self.account) {
            Ok(posted) => posted,
            Err(why) => return Fate::NotDone(why),
        };
        let mut wanted = Wanted { network, peer, id, armed: true };
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
    async fn resume(&self, peer: &str, request: &Request) -> Fate {
        let again = match self.effect {
            EffectClass::Read | EffectClass::Idempotent => request.clone(),
            // Whoever does not know it must not begin it: it may have been done and forgotten.
            EffectClass::Once => request.clone().resumed(),
        };
        let patience: Duration = self.network.options().lease * 2;
        let lost = format!("the connection to {peer} broke before it answered, and did not come back in time");
        match timeout(patience, self.insist(peer, &again)).await {
            Ok(response) => Fate::Answered(response),
            Err(_elapsed) => match self.effect {
                EffectClass::Read => Fate::NotDone(lost),
                EffectClass::Idempotent | EffectClass::Once => Fate::InDoubt(lost),
            },
        }
    }

    /// Asks a peer, whenever it is there, until it answers.
    async fn insist(&self, peer: &str, request: &Request) -> Response {
        let mut changes = self.network.changes();
        loop {
            match self.deliver(peer, request).await {
                Fate::NotDone(_) | Fate::InDoubt(_) => {
                    let _alive = changes.changed().await;
                }
                Fate::Answered(response) => return response,
            }
        }
    }
}
