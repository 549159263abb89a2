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

use crate::network::{Network, PreparedRequest};
use crate::wire::{Response, Status};
use crate::work::Request;

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeliveryOutcome {
    /// A provider answered.
    Answered(Response),
    /// The request was certainly not performed.
    NotDone(String),
    /// The request may or may not have been performed.
    InDoubt(String),
}

/// A request and the context of its call.
pub(crate) struct RequestDelivery<'a> {
    /// The network on which the request is sent.
    pub(crate) network: &'a Network,
    /// The effect of performing the request twice.
    pub(crate) effect: EffectClass,
    /// The account of the call that waits for it.
    pub(crate) account: &'a Account,
}

/// A request that is withdrawn when this is dropped.
pub(crate) struct WithdrawOnDrop<'a> {
    network: &'a Network,
    peer: &'a str,
    id: &'a str,
    armed: bool,
}

impl<'a> WithdrawOnDrop<'a> {
    /// Returns a request that this peer has, or may have.
    pub(crate) fn new(network: &'a Network, peer: &'a str, id: &'a str) -> WithdrawOnDrop<'a> {
        WithdrawOnDrop { network, peer, id, armed: true }
    }

    /// Marks the request as complete: it need not be withdrawn.
    pub(crate) fn fulfilled(mut self) {
        self.armed = false;
    }
}

impl Drop for WithdrawOnDrop<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.network.cancel(self.peer, self.id);
        }
    }
}

impl RequestDelivery<'_> {
    /// Sends a request to one of the providers, the first one first. When
    /// the run is to stop, every provider that may have started it is told
    /// so, and this returns when all of them have reported the outcome.
    pub(crate) async fn send(&self, request: Request, providers: VecDeque<Arc<str>>) -> DeliveryOutcome {
        let must_not_begin = |effect| effect == EffectClass::Once || self.account.is_stopped();
        if self.account.again.is_some_and(must_not_begin) {
            return self.recall(&request.resumed(), &providers).await;
        }
        let mut asked = Vec::new();
        tokio::select! {
            outcome = self.try_providers(&request, providers, &mut asked) => return outcome,
            () = self.account.stopped() => {}
        }
        let again = request.resumed();
        let responses = join_all(asked.iter().map(|peer| self.insist(peer, &again, Duration::MAX))).await;
        let last = responses.into_iter().flatten().next_back();
        let nobody = || DeliveryOutcome::NotDone("it was stopped before anybody had begun".to_owned());
        last.map_or_else(nobody, |response| self.settled(response))
    }

    /// Asks one provider after the other; `asked` are those that may have started the request.
    async fn try_providers(
        &self,
        request: &Request,
        mut providers: VecDeque<Arc<str>>,
        asked: &mut Vec<Arc<str>>,
    ) -> DeliveryOutcome {
        let mut trouble = "nobody shares it".to_owned();
        while let Some(peer) = providers.pop_front() {
            asked.push(peer.clone());
            let withdrawal = WithdrawOnDrop::new(self.network, &peer, request.id());
            let outcome = self.deliver(&peer, request).await;
            let moves_on = self.effect != EffectClass::Once && !providers.is_empty();
            if matches!(outcome, DeliveryOutcome::InDoubt(_)) && moves_on {
                drop(withdrawal);
            } else {
                withdrawal.fulfilled();
            }
            match outcome {
                DeliveryOutcome::Answered(Response { status: Status::Rejected, error, .. }) => {
                    asked.pop();
                    trouble = format!("{peer} did not take it on: {}", error.unwrap_or_default());
                }
                answered @ DeliveryOutcome::Answered(_) => return answered,
                DeliveryOutcome::NotDone(why) => {
                    asked.pop();
                    trouble = why;
                }
                DeliveryOutcome::InDoubt(why) if moves_on => trouble = why,
                DeliveryOutcome::InDoubt(_) => return self.resume(&peer, request).await,
            }
        }
        DeliveryOutcome::NotDone(trouble)
    }

    /// Sends a request over the existing link and waits for the answer.
    async fn deliver(&self, peer: &str, request: &Request) -> DeliveryOutcome {
        // The peer may have been waited for, and the run may be another node's by now.
        right::begin().await;
        let PreparedRequest { outbox, frame, answer, mut left } = match self.network.post(peer, request, self.account) {
            Ok(posted) => posted,
            Err(why) => return DeliveryOutcome::NotDone(why),
        };
        let posted = outbox.send(frame).await.is_ok();
        match answer.await {
            Ok(response) => DeliveryOutcome::Answered(response),
            Err(_gone) if posted && left.try_recv().is_ok() => {
                DeliveryOutcome::InDoubt(format!("the connection to {peer} broke before it answered"))
            }
            Err(_gone) => DeliveryOutcome::NotDone(format!("the connection to {peer} broke")),
        }
    }

    /// Waits for a peer to come back and asks for the outcome of a request that it may have.
    async fn resume(&self, peer: &str, request: &Request) -> DeliveryOutcome {
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
    async fn recall(&self, request: &Request, providers: &VecDeque<Arc<str>>) -> DeliveryOutcome {
        tokio::select! {
            biased;
            () = self.account.stopped() => {}
            outcome = self.ask_around(request, providers, self.network.options().patience()) => return outcome,
        }
        providers.iter().for_each(|peer| self.network.cancel(peer, request.id()));
        self.ask_around(request, providers, Duration::MAX).await
    }

    async fn ask_around(
        &self,
        request: &Request,
        providers: &VecDeque<Arc<str>>,
        patience: Duration,
    ) -> DeliveryOutcome {
        let mut asked: FuturesUnordered<_> =
            providers.iter().map(|peer| self.insist(peer, request, patience)).collect();
        let mut best = None;
        while let Some(answer) = asked.next().await {
            match answer {
                Some(response) if is_certain(&response) => return DeliveryOutcome::Answered(response),
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
        let withdrawal = WithdrawOnDrop::new(self.network, peer, request.id());
        let mut changes = self.network.changes();
        loop {
            changes.mark_unchanged();
            match self.deliver(peer, request).await {
                DeliveryOutcome::Answered(response) => {
                    withdrawal.fulfilled();
                    return Some(response);
                }
                DeliveryOutcome::NotDone(_) | DeliveryOutcome::InDoubt(_) => {
                    timeout(patience, self.network.linked(peer, &mut changes)).await.ok()?;
                }
            }
        }
    }

    /// Returns the outcome for the answer to a request that was sent
    /// before: it may have been performed, although it is rejected now.
    fn settled(&self, response: Response) -> DeliveryOutcome {
        match response.status {
            Status::Rejected => self.in_doubt(response.error.unwrap_or_default()),
            Status::Completed | Status::Failed | Status::InProgress | Status::Other => {
                DeliveryOutcome::Answered(response)
            }
        }
    }

    /// Returns the outcome of a request whose peer did not come back.
    fn lost(&self, peer: &str) -> DeliveryOutcome {
        self.in_doubt(format!("the connection to {peer} broke before it answered, and did not come back in time"))
    }

    fn in_doubt(&self, why: String) -> DeliveryOutcome {
        match self.effect {
            EffectClass::Read => DeliveryOutcome::NotDone(why),
            EffectClass::Idempotent | EffectClass::Once => DeliveryOutcome::InDoubt(why),
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
