//! The permissions that a user has given for the rest of a thread: each for one tool and one host, as they were shown.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Millis;
use crate::requests::catalog::ToolInfo;
use crate::time::Iso;

/// The maximum number of grants of a thread; the oldest lapses.
pub const GRANTS_MAX: usize = 256;

/// The permission to call one tool for the rest of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its id, unique in its thread.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The host, or the name of an MCP server or a peer, that its calls may carry data to.
    pub host: Option<String>,
    /// The digest of the tool as it was shown.
    pub digest: String,
    /// The time at which it was given.
    pub at: Millis,
}

impl Grant {
    /// Returns whether it covers a call of this tool to this host.
    pub fn covers(&self, tool: &ToolInfo, host: Option<&str>) -> bool {
        self.tool == tool.name && self.host.as_deref() == host && self.digest == tool.digest()
    }

    /// Returns the grant as it is listed.
    pub fn view(&self) -> GrantView {
        let Grant { id, tool, host, at, .. } = self.clone();
        GrantView { id, tool, host, granted_at: Iso(at) }
    }
}

/// A permission that was given for the rest of a chat.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Grant")]
pub struct GrantView {
    /// The id to take it back by.
    pub id: String,
    /// The tool that may be called.
    pub tool: String,
    /// The host, MCP server or peer that it may send to; null when it sends nothing.
    pub host: Option<String>,
    /// When it was allowed.
    pub granted_at: Iso,
}
