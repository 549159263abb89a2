//! Stand-ins for tools of other ensembles, for tests without a network: one
//! that gives a fixed reply, one that also writes down what it was given.

use std::sync::{Arc, Mutex, PoisonError};

use consort_core::catalog::{Permission, ToolInfo};
use consort_tools::{Answer, Invocation, Tool};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::remote::NetworkTool;

/// What a recording replies when it is told nothing else.
const RECORDED: &str = "recorded";

/// A tool that gives a fixed reply and keeps what it was given. Clones share it.
#[derive(Clone)]
pub struct Double {
    info: Arc<ToolInfo>,
    reply: String,
    inputs: Arc<Mutex<Vec<Value>>>,
}

impl Double {
    fn new(ensemble: &str, capability: &str, reply: &str) -> Double {
        let info = ToolInfo::new(&format!("{ensemble}.{capability}"), "A stand-in for a tool of another ensemble");
        let info = Arc::new(ToolInfo { permission: Permission::Network, ..info });
        Double { info, reply: reply.to_owned(), inputs: Arc::default() }
    }

    /// What it was given, in order.
    pub fn inputs(&self) -> Vec<Value> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl NetworkTool {
    /// A stand-in that always replies this.
    pub fn stub(ensemble: &str, capability: &str, reply: &str) -> Double {
        Double::new(ensemble, capability, reply)
    }

    /// A stand-in to ask afterwards what it was given.
    pub fn recording(ensemble: &str, capability: &str) -> Double {
        Double::new(ensemble, capability, RECORDED)
    }
}

impl Tool for Double {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).push(invocation.args);
        let answer = Answer::Done { text: self.reply.clone(), data: None };
        Box::pin(async { answer })
    }
}
