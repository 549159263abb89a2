//! `Idempotency-Key`: a request that is sent again gets the run of the first.
//! The keys are claimed in the append that accepts the run, so this holds
//! across restarts and however many requests race.

use std::fmt::Write;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use consort_core::compile::Compiled;
use consort_runtime::engine::{self, Engine};
use consort_runtime::log;
use sha2::{Digest, Sha256};

use crate::Site;
use crate::access::Caller;
use crate::body::Sent;
use crate::problem::Problem;

/// Bytes of a key at most; it is stored with the run.
const KEY_MAX: usize = 255;

/// What a request claims.
pub(crate) struct Once {
    /// For this request and no other.
    same: String,
    /// For this key, whatever is sent with it.
    any: String,
}

impl Once {
    pub(crate) fn read(headers: &HeaderMap, caller: &Caller, sent: &Sent) -> Result<Option<Once>, Problem> {
        let Some(key) = headers.get("idempotency-key") else { return Ok(None) };
        let key = key.to_str().ok().filter(|key| !key.trim().is_empty() && key.len() <= KEY_MAX);
        let wrong = || Problem::bad_request(format!("Idempotency-Key must be text of at most {KEY_MAX} characters"));
        let any = format!("POST /api/runs {} {}", caller.0, key.ok_or_else(wrong)?);
        let mut same = format!("{any} ");
        for byte in Sha256::digest(sent.0.to_string()) {
            let _never_fails = write!(same, "{byte:02x}");
        }
        Ok(Some(Once { same, any }))
    }

    /// Submits a run, or finds the one the first such request started.
    pub(crate) async fn submit(&self, site: &Site, compiled: Compiled) -> Result<Arc<str>, Problem> {
        // One at a time: who comes second waits for what is decided about the first.
        let _decided = site.deciding.lock().await;
        let engine = site.engine();
        if let Some(run) = self.first(engine).await? {
            return Ok(run);
        }
        let claims = vec![self.same.clone(), self.any.clone()];
        match engine.submit_once(compiled, claims).await {
            Err(error @ engine::Error::Log(log::Error::Claimed { .. })) => {
                self.first(engine).await?.ok_or_else(|| error.into())
            }
            submitted => Ok(submitted?),
        }
    }

    async fn first(&self, engine: &Engine) -> Result<Option<Arc<str>>, Problem> {
        if let Some(run) = engine.holder(&self.same).await? {
            return Ok(Some(run));
        }
        match engine.holder(&self.any).await? {
            None => Ok(None),
            Some(_) => {
                let message = "this Idempotency-Key was sent with another body before";
                Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_CONFLICT", message))
            }
        }
    }
}
