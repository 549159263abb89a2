//! A tool of an ensemble that is not connected. A new call fails with a message; a call that a
//! previous owner of the run had made waits for the ensemble to come back, and is asked about.

use std::sync::Arc;
use std::time::Duration;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use consort_core::message::Spent;
use consort_core::reach::{Destination, Provider, Reach};
use consort_tools::{Answer, Invocation, Tool};
use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::delivery::WithdrawOnDrop;
use crate::network::Network;
use crate::remote::{NetworkTool, TASK_TIMEOUT_MS};

/// A tool whose ensemble is not connected.
pub(crate) struct OfflineTool {
    network: Network,
    ensemble: String,
    info: Arc<ToolInfo>,
}

impl OfflineTool {
    /// Returns the tool of this name, of this ensemble.
    pub(crate) fn new(network: &Network, ensemble: &str, name: &str) -> OfflineTool {
        let info = ToolInfo::new(name, "A tool of another ensemble, which cannot be reached just now");
        let info = ToolInfo {
            permission: Permission::Network,
            // The tool that it turns out to be has a limit of its own.
            timeout_ms: 2 * TASK_TIMEOUT_MS,
            cancel: CancelClass::Finish,
            charged: true,
            reach: Reach::to(Destination::Named(ensemble.to_owned())),
            ..info
        };
        OfflineTool { network: network.for_calls(), ensemble: ensemble.to_owned(), info: Arc::new(info) }
    }

    /// Continues a call that was made before, once a peer is connected that may know it.
    async fn resume(&self, invocation: Invocation, effect: EffectClass) -> Answer {
        let account = invocation.account.clone();
        let key = invocation.key.clone();
        let withdrawal = WithdrawOnDrop::new(&self.network, &self.ensemble, &key);
        let back = self.back(account.provider);
        let Ok(tool) = timeout(self.network.options().patience(), back).await else {
            let why = format!("`{}` did not come back in time to say what became of the call", self.ensemble);
            return match effect {
                EffectClass::Read => {
                    account.charge(Spent::default());
                    Answer::Failed(why)
                }
                EffectClass::Idempotent | EffectClass::Once => Answer::Unknown(why),
            };
        };
        withdrawal.fulfilled();
        let limit = Duration::from_millis(tool.info().timeout_ms);
        let late = |_elapsed| Answer::Late { why: format!("no answer within {limit:?}"), effect };
        timeout(limit, tool.ask(invocation)).await.unwrap_or_else(late)
    }

    /// Returns the tool, if an ensemble that may do its work is connected.
    fn now(&self, provider: Provider) -> Option<NetworkTool> {
        let name = &self.info.name;
        let anywhere = || self.network.known_anywhere(name).filter(|_| provider == Provider::Any);
        self.network.find_tool(name).or_else(anywhere)
    }

    async fn back(&self, provider: Provider) -> NetworkTool {
        let mut changes = self.network.changes();
        loop {
            changes.mark_unchanged();
            if let Some(tool) = self.now(provider) {
                return tool;
            }
            if changes.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

impl OfflineTool {
    fn why(&self, provider: Provider) -> String {
        let name = &self.info.name;
        let ensemble = &self.ensemble;
        let others = match provider {
            Provider::Named => "no other is asked instead",
            Provider::Any => "no other shares it",
        };
        format!("`{name}` cannot be reached: `{ensemble}` is not connected, and {others}")
    }
}

impl Tool for OfflineTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        if let Some(effect) = invocation.account.again {
            return Box::pin(self.resume(invocation, effect));
        }
        if let Some(tool) = self.now(invocation.account.provider) {
            return Box::pin(tool.ask(invocation));
        }
        let why = self.why(invocation.account.provider);
        invocation.account.charge(Spent::default());
        Box::pin(async { Answer::Failed(why) })
    }

    fn trouble(&self) -> Option<String> {
        Some(self.why(Provider::Named))
    }
}
