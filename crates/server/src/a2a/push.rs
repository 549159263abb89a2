//! The addresses that are told of a task. The outbox tells them, so nothing is lost over a restart.

use consort_runtime::webhooks::push::{PUSHES_MAX, Push};
use serde_json::{Value, json};

use super::Agent;
use super::error::{A2aError, Fault};
use super::read::{self, Address, Fields};
use super::tasks::Found;

impl Agent {
    /// Refuses an address that is never called; what its name leads to is checked whenever it is called.
    pub(super) fn check(&self, address: &Address) -> Result<(), A2aError> {
        match self.edge.site.outbox.reach().parse(&address.url) {
            Ok(_) => Ok(()),
            Err(error) => Err(A2aError::wrong("url", format!("cannot be called: {error}"))),
        }
    }

    /// Stores an address of a task, which is told of what has happened since then.
    pub(super) async fn add_push(&self, found: &Found, address: Address, since: u64) -> Result<Push, A2aError> {
        let outbox = &self.edge.site.outbox;
        let id = address.id.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let known = outbox.pushes_of(&found.id).await?;
        if known.len() >= PUSHES_MAX && !known.iter().any(|push| push.id == id) {
            let message = format!("the task {} has {PUSHES_MAX} addresses already: delete one first", found.id);
            return Err(A2aError::new(Fault::UnsupportedOperation, message));
        }
        let push = Push {
            id,
            task: found.id.clone(),
            context: found.context.clone(),
            url: address.url,
            token: address.token,
            authentication: address.authentication,
            since,
            is_over: false,
        };
        outbox.add_push(&push).await?;
        Ok(push)
    }

    /// Answers `CreateTaskPushNotificationConfig`.
    pub(super) async fn create_push(&self, params: &Fields) -> Result<Value, A2aError> {
        let found = self.find(read::needed_id(params, "taskId")?).await?;
        let address = Address::read(params)?;
        self.check(&address)?;
        let push = self.add_push(&found, address, self.edge.site.now()).await?;
        Ok(shown(&push))
    }

    /// Answers `GetTaskPushNotificationConfig`.
    pub(super) async fn get_push(&self, params: &Fields) -> Result<Value, A2aError> {
        let found = self.find(read::needed_id(params, "taskId")?).await?;
        let id = read::needed_id(params, "id")?;
        let push = self.edge.site.outbox.push(&found.id, id).await?;
        let missing = || A2aError::new(Fault::TaskNotFound, format!("the task {} has no address {id}", found.id));
        Ok(shown(&push.ok_or_else(missing)?))
    }

    /// Answers `ListTaskPushNotificationConfigs`. A task has so few that they fit on one page.
    pub(super) async fn list_pushes(&self, params: &Fields) -> Result<Value, A2aError> {
        let found = self.find(read::needed_id(params, "taskId")?).await?;
        // As Protocol Buffers have it, 0 is no limit.
        let size = read::number(params, "pageSize", 0..=usize::MAX)?.filter(|size| *size > 0).unwrap_or(PUSHES_MAX);
        let after = read::text(params, "pageToken")?.unwrap_or_default();
        let pushes = self.edge.site.outbox.pushes_of(&found.id).await?;
        let mut left = pushes.iter().filter(|push| push.id.as_str() > after);
        let page: Vec<&Push> = left.by_ref().take(size).collect();
        let next = page.last().filter(|_| left.next().is_some()).map(|push| push.id.as_str()).unwrap_or_default();
        let configs: Vec<Value> = page.iter().map(|push| shown(push)).collect();
        Ok(json!({ "configs": configs, "nextPageToken": next }))
    }

    /// Answers `DeleteTaskPushNotificationConfig`.
    pub(super) async fn delete_push(&self, params: &Fields) -> Result<Value, A2aError> {
        let found = self.find(read::needed_id(params, "taskId")?).await?;
        self.edge.site.outbox.remove_push(&found.id, read::needed_id(params, "id")?).await?;
        Ok(json!({}))
    }
}

fn shown(push: &Push) -> Value {
    let mut shown = json!({ "id": push.id, "taskId": push.task, "url": push.url });
    if let Value::Object(fields) = &mut shown {
        if let Some(token) = &push.token {
            fields.insert("token".to_owned(), json!(token));
        }
        if let Some((scheme, credentials)) = &push.authentication {
            let written = json!({ "scheme": scheme, "credentials": credentials });
            fields.insert("authentication".to_owned(), written);
        }
    }
    shown
}
