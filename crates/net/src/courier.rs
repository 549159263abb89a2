//! Delivers one request: it is sent to the best provider, moved to the next when its effect class
//! allows, requested again when the link comes back, and withdrawn when it is no longer wanted.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::EffectClass;
use consort_http::right;
use consort_tools::Account;
use futures::StreamExt;
use futures::future::join_all;
use futures::stream::FuturesUnordered;
use tokio::time::timeout;

use crate::network::{Network, Posted};
use crate::wire::{Response, Status};
use crate::work::Request;

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fate {
    /// A provider answered.
    Answered(Response),
    /// The request was certainly not performed.
    NotDone(String),
    /// The request may or may not have been performed.
    InDoubt(String),
}

/// A request and the context of its call.
pub(crate) struct Courier<'a> {
    /// The network on which the request is sent.
    pub(crate) network: &'a Network,
    /// The effect of performing the request twice.
    pub(crate) effect: EffectClass,
    /// The account of the call that waits for it.
    pub(crate) account: &'a Account,
}

/// A request that is withdrawn when this is dropped.
pub(crate) struct Wanted<'a> {
    network: &'a Network,
    peer: &'a str,
    id: &'a str,
    armed: bool,
}

impl<'a> Wanted<'a> {
    /// Returns a request that this peer has, or may have.
    pub(crate) fn new(network: &'a Network, peer: &'a str, id: &'a str) -> Wanted<'a> {
        Wanted { network, peer, id, armed: true }
    }

    /// Marks the request as complete: it need not be withdrawn.
    pub(crate) fn fulfilled(mut self) {
        self.armed = false;
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.network.cancel(self.peer, self.id);
        }
    }
}

impl Courier<'_> {
    /// Sends a request to one of the providers, the first one first. When
    /// the run is to stop, every provider that may have started it is told
    /// so, and this returns when all of them have reported the outcome.
    pub(crate) async fn carry(&self, request: Request, providers: VecDeque<Arc<str>>) -> Fate {
        let must_not_begin = |effect| effect == EffectClass::Once || self.account.is_stopped();
        if self.account.again.is_some_and(must_not_begin) {
            return self.recall(&request.resumed(), &providers).await;
        }
        let mut asked = Vec::new();
        tokio::select! {
            fate = self.convey(&request, providers, &mut asked) => return fate,
            () = self.account.stopped() => {}
        }
        let again = request.resumed();
        let told = join_all(asked.iter().map(|peer| self.insist(peer, &again, Duration::MAX))).await;
        let last = told.into_iter().flatten().next_back();
        let nobody = || Fate::NotDone("it was stopped before anybody had begun".to_owned());
        last.map_or_else(nobody, |response| self.settled(response))
    }

    /// Asks one provider after the other; `asked` are those that may have started the request.
    async fn convey(&self, request: &Request, mut providers: VecDeque<Arc<str>>, asked: &mut Vec<Arc<str>>) -> Fate {
        let mut trouble = "nobody shares it".to_owned();
        while let Some(peer) = providers.pop_front() {
            asked.push(peer.clone());
            let wanted = Wanted::new(self.network, &peer, request.id());
            let fate = self.deliver(&peer, request).await;
            let moves_on = self.effect != EffectClass::Once && !providers.is_empty();
            if matches!(fate, Fate::InDoubt(_)) && moves_on {
                drop(wanted);
            } else {
                wanted.fulfilled();
            }
            match fate {
                Fate::Answered(Response { status: Status::Rejected, error, .. }) => {
                    asked.pop();
                    trouble = format!("{peer} did not take it on: {}", error.unwrap_or_default());
                }
                answered @ Fate::Answered(_) => return answered,
                Fate::NotDone(why) => {
                    asked.pop();
                    trouble = why;
                }
                Fate::InDoubt(why) if moves_on => trouble = why,
                Fate::InDoubt(_) => return self.resume(&peer, request).await,
            }
        }
        Fate::NotDone(trouble)
    }

    /// Sends a request over the existing link and waits for the answer.
    async fn deliver(&self, peer: &str, request: &Request) -> Fate {
        // The peer may have been waited for, and the run may be another node's by now.
        right::begin().await;
        let Posted { outbox, parcel, answer, mut left } = match self.network.post(peer, request, self.account) {
            Ok(posted) => posted,
            Err(why) => return Fate::NotDone(why),
        };
        let posted = outbox.send(parcel).await.is_ok();
        match answer.await {
            Ok(response) => Fate::Answered(response),
            Err(_gone) if posted && left.try_recv().is_ok() => {
                Fate::InDoubt(format!("the connection to {peer} broke before it answered"))
            }
            Err(_gone) => Fate::NotDone(format!("the connection to {peer} broke")),
        }
    }

    /// Waits for a peer to come back and asks for the outcome of a request that it may have.
    async fn resume(&self, peer: &str, request: &Request) -> Fate {
        let again = match self.effect {
            EffectClass::Read | EffectClass::Idempotent => request.clone(),
            // A peer that does not know the request must not start it: it may have been done and forgotten.
            EffectClass::Once => request.clone().resumed(),
        };
        let answer = self.insist(peer, &again, self.network.options().patience()).await;
        answer.map_or_else(|| self.lost(peer), |response| self.settled(response))
    }

    /// Asks every peer that may have a request from a previous owner of the run, and takes the
    /// first answer that tells its outcome. When the run is to stop, the peers are told so first.
    async fn recall(&self, request: &Request, providers: &VecDeque<Arc<str>>) -> Fate {
        tokio::select! {
            biased;
            () = self.account.stopped() => {}
            fate = self.ask_around(request, providers, self.network.options().patience()) => return fate,
        }
        providers.iter().for_each(|peer| self.network.cancel(peer, request.id()));
        self.ask_around(request, providers, Duration::MAX).await
    }

    async fn ask_around(&self, request: &Request, providers: &VecDeque<Arc<str>>, patience: Duration) -> Fate {
        let mut asked: FuturesUnordered<_> =
            providers.iter().map(|peer| self.insist(peer, request, patience)).collect();
        let mut best = None;
        while let Some(answer) = asked.next().await {
            match answer {
                Some(response) if is_certain(&response) => return Fate::Answered(response),
                Some(response) => best = Some(response),
                None => {}
            }
        }
        let nobody = || self.lost(providers.front().map_or("the peer", |peer| peer));
        best.map_or_else(nobody, |response| self.settled(response))
    }

    /// Asks a peer, whenever it is connected, until it answers; none when it stayed
    /// away for too long. The duration of the work itself is not limited here.
    async fn insist(&self, peer: &str, request: &Request, patience: Duration) -> Option<Response> {
        let wanted = Wanted::new(self.network, peer, request.id());
        let mut changes = self.network.changes();
        loop {
            changes.mark_unchanged();
            match self.deliver(peer, request).await {
                Fate::Answered(response) => {
                    wanted.fulfilled();
                    return Some(response);
                }
                Fate::NotDone(_) | Fate::InDoubt(_) => {
                    timeout(patience, self.network.linked(peer, &mut changes)).await.ok()?;
                }
            }
        }
    }

    /// Returns the outcome for the answer to a request that was sent
    /// before: it may have been performed, although it is rejected now.
    fn settled(&self, response: Response) -> Fate {
        match response.status {
            Status::Rejected => self.in_doubt(response.error.unwrap_or_default()),
            Status::Completed | Status::Failed | Status::InProgress | Status::Other => Fate::Answered(response),
        }
    }

    /// Returns the outcome of a request whose peer did not come back.
    fn lost(&self, peer: &str) -> Fate {
        self.in_doubt(format!("the connection to {peer} broke before it answered, and did not come back in time"))
    }

    fn in_doubt(&self, why: String) -> Fate {
        match self.effect {
            EffectClass::Read => Fate::NotDone(why),
            EffectClass::Idempotent | EffectClass::Once => Fate::InDoubt(why),
        }
    }
}

/// Returns whether an answer tells the outcome of a request: for
/// one that was sent before, "not known here" and "not now" do not.
fn is_certain(response: &Response) -> bool {
    match response.status {
        Status::Completed => true,
        Status::Failed => !response.unknown,
        Status::Rejected | Status::InProgress | Status::Other => false,
    }
}
