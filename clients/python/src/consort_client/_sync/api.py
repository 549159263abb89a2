"""Every request of the API as a method. Made from openapi.json by `python generate.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from .._wire import segment
from ..types import (
    Accepted,
    AddedDocument,
    Answered,
    ApprovalRequest,
    Approvals,
    Attachment,
    BudgetRequest,
    CancelRequest,
    Capabilities,
    ChatCompletion,
    Collection,
    CollectionRequest,
    Collections,
    Compacted,
    CompletionRequest,
    Decided,
    DecisionRequest,
    Deliveries,
    Delivery,
    Document,
    DocumentRequest,
    Documents,
    Drained,
    Edits,
    Event,
    Facts,
    Files,
    Forgotten,
    Frames,
    GiveUpRequest,
    GivenUp,
    Grants,
    Health,
    Hits,
    HookAnswer,
    HookBegun,
    InjectRequest,
    Injected,
    InvokeRequest,
    Invoked,
    Live,
    Me,
    Messages,
    ModelList,
    ModelRequest,
    Network,
    Nodes,
    ProtectedResource,
    Raised,
    Rehearsal,
    Remembered,
    Response,
    ResponseRequest,
    Reviews,
    RunDetail,
    RunRequest,
    Runs,
    Said,
    Say,
    Schedule,
    ScheduleChanges,
    ScheduleRequest,
    Schedules,
    Scopes,
    SearchResults,
    Status,
    Steered,
    Stopped,
    Switched,
    Thread,
    ThreadChange,
    ThreadRequest,
    Threads,
    Trace,
    Triggered,
    Turns,
    Versions,
    Webhooks,
    Workflow,
    WorkflowDocument,
    WorkflowRun,
    Workflows,
    WorkspaceItem,
)


class Api:
    """The requests; `send` sends them."""

    def __init__(self, send: Callable[..., Any]) -> None:
        self._send = send

    def list_runs(
        self,
        *,
        status: str | None = None,
        tag: list[str] | None = None,
        kind: str | None = None,
        q: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        model: str | None = None,
        min_cost: float | None = None,
        waiting: str | None = None,
        paused: bool | None = None,
        order: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        offset: int | None = None,
    ) -> Runs:
        """List runs, the newest first."""
        answer: Runs = self._send(
            "GET",
            "/api/runs",
            query={"status": status, "tag": tag, "kind": kind, "q": q, "from": from_, "to": to, "model": model, "minCost": min_cost, "waiting": waiting, "paused": paused, "order": order, "after": after, "limit": limit, "offset": offset},
        )
        return answer

    def submit_run(
        self,
        body: RunRequest | None = None,
        *,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        traceparent: str | None = None,
    ) -> RunDetail | Rehearsal | Accepted:
        """Start a run."""
        answer: RunDetail | Rehearsal | Accepted = self._send(
            "POST",
            "/api/runs",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "Prefer": prefer, "traceparent": traceparent},
        )
        return answer

    def get_run(self, id: str) -> RunDetail:
        """Read a run."""
        answer: RunDetail = self._send("GET", f"/api/runs/{segment(id)}")
        return answer

    def delete_run(self, id: str) -> Steered | None:
        """Erase an ended run, cancel any other."""
        answer: Steered | None = self._send("DELETE", f"/api/runs/{segment(id)}")
        return answer

    def cancel_run(
        self,
        id: str,
        body: CancelRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Steered:
        """Stop a run."""
        answer: Steered = self._send(
            "POST",
            f"/api/runs/{segment(id)}/cancel",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def pause_run(self, id: str, *, idempotency_key: str | None = None) -> Steered:
        """Pause a run."""
        answer: Steered = self._send(
            "POST",
            f"/api/runs/{segment(id)}/pause",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def resume_run(self, id: str, *, idempotency_key: str | None = None) -> Steered:
        """Resume a run."""
        answer: Steered = self._send(
            "POST",
            f"/api/runs/{segment(id)}/resume",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def switch_model(self, id: str, body: ModelRequest, *, idempotency_key: str | None = None) -> Switched:
        """Switch the model of a run."""
        answer: Switched = self._send(
            "POST",
            f"/api/runs/{segment(id)}/model",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def give_up_call(
        self,
        id: str,
        body: GiveUpRequest | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> GivenUp:
        """Give up the model calls under way."""
        answer: GivenUp = self._send(
            "POST",
            f"/api/runs/{segment(id)}/give-up",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def inject_directive(self, id: str, body: InjectRequest, *, idempotency_key: str | None = None) -> Injected:
        """Tell the agents of a run something."""
        answer: Injected = self._send(
            "POST",
            f"/api/runs/{segment(id)}/inject",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def raise_budget(self, id: str, body: BudgetRequest, *, idempotency_key: str | None = None) -> Raised:
        """Raise the budget of a run."""
        answer: Raised = self._send(
            "POST",
            f"/api/runs/{segment(id)}/budget",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def retry_run(
        self,
        id: str,
        body: Edits | None = None,
        *,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        traceparent: str | None = None,
    ) -> RunDetail | Rehearsal | Accepted:
        """Retry a run."""
        answer: RunDetail | Rehearsal | Accepted = self._send(
            "POST",
            f"/api/runs/{segment(id)}/retry",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "Prefer": prefer, "traceparent": traceparent},
        )
        return answer

    def fork_run(
        self,
        id: str,
        body: Edits | None = None,
        *,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        traceparent: str | None = None,
    ) -> RunDetail | Rehearsal | Accepted:
        """Fork a run."""
        answer: RunDetail | Rehearsal | Accepted = self._send(
            "POST",
            f"/api/runs/{segment(id)}/fork",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "Prefer": prefer, "traceparent": traceparent},
        )
        return answer

    def run_events(
        self,
        id: str,
        *,
        limit: int | None = None,
        events: str | None = None,
        from_: int | None = None,
        last_event_id: int | None = None,
    ) -> Frames:
        """Read a run's events, as a stream or by page."""
        answer: Frames = self._send(
            "GET",
            f"/api/runs/{segment(id)}/events",
            query={"limit": limit, "events": events, "from": from_},
            headers={"Last-Event-ID": last_event_id},
        )
        return answer

    def list_reviews(self, *, run_id: str | None = None) -> Reviews:
        """List the reviews that wait for a decision."""
        answer: Reviews = self._send("GET", "/api/reviews", query={"runId": run_id})
        return answer

    def decide_review(self, id: str, body: DecisionRequest, *, idempotency_key: str | None = None) -> Decided:
        """Decide a review."""
        answer: Decided = self._send(
            "POST",
            f"/api/reviews/{segment(id)}",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def list_approvals(self) -> Approvals:
        """List the tool calls that wait for permission."""
        answer: Approvals = self._send("GET", "/api/approvals")
        return answer

    def answer_approval(self, id: str, body: ApprovalRequest, *, idempotency_key: str | None = None) -> Answered:
        """Allow or deny a tool call."""
        answer: Answered = self._send(
            "POST",
            f"/api/approvals/{segment(id)}",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def list_threads(self, *, q: str | None = None) -> Threads:
        """List chats, the newest first."""
        answer: Threads = self._send("GET", "/api/threads", query={"q": q})
        return answer

    def create_thread(self, body: ThreadRequest | None = None, *, idempotency_key: str | None = None) -> Thread:
        """Begin a chat."""
        answer: Thread = self._send(
            "POST",
            "/api/threads",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def get_thread(self, id: str) -> Thread:
        """Read a chat."""
        answer: Thread = self._send("GET", f"/api/threads/{segment(id)}")
        return answer

    def change_thread(self, id: str, body: ThreadChange) -> Thread:
        """Rename a chat, or change its permission mode."""
        answer: Thread = self._send("PATCH", f"/api/threads/{segment(id)}", body=body)
        return answer

    def delete_thread(self, id: str) -> None:
        """Erase a chat."""
        answer: None = self._send("DELETE", f"/api/threads/{segment(id)}")
        return answer

    def list_messages(self, id: str) -> Messages:
        """List the messages of a chat."""
        answer: Messages = self._send("GET", f"/api/threads/{segment(id)}/messages")
        return answer

    def say(
        self,
        id: str,
        body: Say,
        *,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
    ) -> Said:
        """Send a message."""
        answer: Said = self._send(
            "POST",
            f"/api/threads/{segment(id)}/messages",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
        )
        return answer

    def thread_events(
        self,
        id: str,
        *,
        limit: int | None = None,
        events: str | None = None,
        from_: int | None = None,
        last_event_id: int | None = None,
    ) -> Frames:
        """Read a chat's events, as a stream or by page."""
        answer: Frames = self._send(
            "GET",
            f"/api/threads/{segment(id)}/events",
            query={"limit": limit, "events": events, "from": from_},
            headers={"Last-Event-ID": last_event_id},
        )
        return answer

    def continue_thread(
        self,
        id: str,
        *,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
    ) -> Said:
        """Continue an answer that was cut."""
        answer: Said = self._send(
            "POST",
            f"/api/threads/{segment(id)}/continue",
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
        )
        return answer

    def stop_turn(self, id: str, *, idempotency_key: str | None = None) -> Stopped:
        """Stop the turn under way."""
        answer: Stopped = self._send(
            "POST",
            f"/api/threads/{segment(id)}/stop",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def export_thread(self, id: str) -> str:
        """Export a chat as Markdown."""
        answer: str = self._send("GET", f"/api/threads/{segment(id)}/export", reads=str)
        return answer

    def list_grants(self, id: str) -> Grants:
        """List the permissions given for a chat."""
        answer: Grants = self._send("GET", f"/api/threads/{segment(id)}/grants")
        return answer

    def withdraw_grant(self, id: str, grant: str) -> None:
        """Revoke a permission given for a chat."""
        answer: None = self._send("DELETE", f"/api/threads/{segment(id)}/grants/{segment(grant)}")
        return answer

    def list_turns(self, *, limit: int | None = None, offset: int | None = None) -> Turns:
        """List turns and their usage."""
        answer: Turns = self._send("GET", "/api/turns", query={"limit": limit, "offset": offset})
        return answer

    def create_attachment(self, body: str, *, idempotency_key: str | None = None) -> Attachment:
        """Upload a file for messages and runs."""
        answer: Attachment = self._send(
            "POST",
            "/api/attachments",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def get_attachment(self, id: str) -> str:
        """Download an attachment."""
        answer: str = self._send("GET", f"/api/attachments/{segment(id)}", reads=str)
        return answer

    def delete_attachment(self, id: str) -> None:
        """Erase an attachment that nothing uses."""
        answer: None = self._send("DELETE", f"/api/attachments/{segment(id)}")
        return answer

    def list_models(self) -> ModelList:
        """List the models of OpenAI's API."""
        answer: ModelList = self._send("GET", "/v1/models")
        return answer

    def create_chat_completion(
        self,
        body: CompletionRequest,
        *,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
    ) -> ChatCompletion:
        """Create a chat completion, as OpenAI does."""
        answer: ChatCompletion = self._send(
            "POST",
            "/v1/chat/completions",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
        )
        return answer

    def create_response(
        self,
        body: ResponseRequest,
        *,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
    ) -> Response:
        """Create a response, as OpenAI does."""
        answer: Response = self._send(
            "POST",
            "/v1/responses",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
        )
        return answer

    def mcp(self, body: dict[str, Any], *, idempotency_key: str | None = None) -> dict[str, Any] | None:
        """Speak the Model Context Protocol."""
        answer: dict[str, Any] | None = self._send(
            "POST",
            "/mcp",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def protected_resource(self) -> ProtectedResource:
        """Get the OAuth metadata of /mcp."""
        answer: ProtectedResource = self._send("GET", "/.well-known/oauth-protected-resource")
        return answer

    def protected_mcp(self) -> ProtectedResource:
        """Get the OAuth metadata of /mcp, at the path of the resource."""
        answer: ProtectedResource = self._send("GET", "/.well-known/oauth-protected-resource/mcp")
        return answer

    def agent_card(self) -> dict[str, Any]:
        """Get the agent card."""
        answer: dict[str, Any] = self._send("GET", "/.well-known/agent-card.json")
        return answer

    def a2a(self, body: dict[str, Any], *, idempotency_key: str | None = None) -> dict[str, Any]:
        """Speak the A2A protocol (JSON-RPC)."""
        answer: dict[str, Any] = self._send(
            "POST",
            "/a2a",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def a2a_send(self, body: dict[str, Any], *, idempotency_key: str | None = None) -> dict[str, Any]:
        """Send a message."""
        answer: dict[str, Any] = self._send(
            "POST",
            "/a2a/v1/message:send",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def a2a_stream(self, body: dict[str, Any], *, idempotency_key: str | None = None) -> Any:
        """Send a message and stream its task."""
        answer: Any = self._send(
            "POST",
            "/a2a/v1/message:stream",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def a2a_tasks(self) -> dict[str, Any]:
        """List the caller's tasks."""
        answer: dict[str, Any] = self._send("GET", "/a2a/v1/tasks")
        return answer

    def a2a_task(self, id: str) -> dict[str, Any]:
        """Get a task, or stream it (`:subscribe` after its id)."""
        answer: dict[str, Any] = self._send("GET", f"/a2a/v1/tasks/{segment(id)}")
        return answer

    def a2a_act_on_task(
        self,
        id: str,
        body: dict[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Cancel a task (`:cancel` after its id), or stream it (`:subscribe`)."""
        answer: dict[str, Any] = self._send(
            "POST",
            f"/a2a/v1/tasks/{segment(id)}",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def a2a_create_push(
        self,
        id: str,
        body: dict[str, Any],
        *,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Add an address that is notified about a task."""
        answer: dict[str, Any] = self._send(
            "POST",
            f"/a2a/v1/tasks/{segment(id)}/pushNotificationConfigs",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def a2a_pushes(self, id: str) -> dict[str, Any]:
        """List the addresses that are notified about a task."""
        answer: dict[str, Any] = self._send("GET", f"/a2a/v1/tasks/{segment(id)}/pushNotificationConfigs")
        return answer

    def a2a_push(self, id: str, config: str) -> dict[str, Any]:
        """Get an address that is notified about a task."""
        answer: dict[str, Any] = self._send(
            "GET",
            f"/a2a/v1/tasks/{segment(id)}/pushNotificationConfigs/{segment(config)}",
        )
        return answer

    def a2a_delete_push(self, id: str, config: str) -> dict[str, Any]:
        """Delete an address that is notified about a task."""
        answer: dict[str, Any] = self._send(
            "DELETE",
            f"/a2a/v1/tasks/{segment(id)}/pushNotificationConfigs/{segment(config)}",
        )
        return answer

    def a2a_card(self) -> dict[str, Any]:
        """Get the agent card for this caller."""
        answer: dict[str, Any] = self._send("GET", "/a2a/v1/extendedAgentCard")
        return answer

    def list_collections(self) -> Collections:
        """List collections."""
        answer: Collections = self._send("GET", "/api/collections")
        return answer

    def create_collection(self, body: CollectionRequest, *, idempotency_key: str | None = None) -> Collection:
        """Create a collection."""
        answer: Collection = self._send(
            "POST",
            "/api/collections",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def get_collection(self, name: str) -> Collection:
        """Read a collection."""
        answer: Collection = self._send("GET", f"/api/collections/{segment(name)}")
        return answer

    def delete_collection(self, name: str) -> None:
        """Erase a collection with its documents."""
        answer: None = self._send("DELETE", f"/api/collections/{segment(name)}")
        return answer

    def search_collection(self, name: str, *, q: str, limit: int | None = None) -> Hits:
        """Search the passages of a collection."""
        answer: Hits = self._send(
            "GET",
            f"/api/collections/{segment(name)}/search",
            query={"q": q, "limit": limit},
        )
        return answer

    def list_documents(self, name: str) -> Documents:
        """List the documents of a collection."""
        answer: Documents = self._send("GET", f"/api/collections/{segment(name)}/documents")
        return answer

    def add_document(
        self,
        name: str,
        body: DocumentRequest,
        *,
        title: str | None = None,
        idempotency_key: str | None = None,
        content_disposition: str | None = None,
    ) -> AddedDocument:
        """Add a document."""
        answer: AddedDocument = self._send(
            "POST",
            f"/api/collections/{segment(name)}/documents",
            body=body,
            query={"title": title},
            headers={"Idempotency-Key": idempotency_key, "Content-Disposition": content_disposition},
        )
        return answer

    def get_document(self, name: str, id: str) -> Document:
        """Read a document with its text."""
        answer: Document = self._send("GET", f"/api/collections/{segment(name)}/documents/{segment(id)}")
        return answer

    def replace_document(
        self,
        name: str,
        id: str,
        body: DocumentRequest,
        *,
        title: str | None = None,
        content_disposition: str | None = None,
    ) -> AddedDocument:
        """Replace a document."""
        answer: AddedDocument = self._send(
            "PUT",
            f"/api/collections/{segment(name)}/documents/{segment(id)}",
            body=body,
            query={"title": title},
            headers={"Content-Disposition": content_disposition},
        )
        return answer

    def delete_document(self, name: str, id: str) -> None:
        """Erase a document."""
        answer: None = self._send("DELETE", f"/api/collections/{segment(name)}/documents/{segment(id)}")
        return answer

    def invoke_tool(
        self,
        name: str,
        body: InvokeRequest | None = None,
        *,
        idempotency_key: str | None = None,
        traceparent: str | None = None,
    ) -> Invoked:
        """Call a tool directly."""
        answer: Invoked = self._send(
            "POST",
            f"/api/tools/{segment(name)}/invoke",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
        )
        return answer

    def capabilities(self) -> Capabilities:
        """List the models, tools and limits there are."""
        answer: Capabilities = self._send("GET", "/api/capabilities")
        return answer

    def network(self) -> Network:
        """List the other ensembles, and what they share."""
        answer: Network = self._send("GET", "/api/network")
        return answer

    def list_facts(self, *, limit: int | None = None, offset: int | None = None) -> Facts:
        """List the facts about the caller."""
        answer: Facts = self._send("GET", "/api/facts", query={"limit": limit, "offset": offset})
        return answer

    def forget_facts(self) -> Forgotten:
        """Erase all facts about the caller."""
        answer: Forgotten = self._send("DELETE", "/api/facts")
        return answer

    def forget_fact(self, id: str) -> None:
        """Erase one fact."""
        answer: None = self._send("DELETE", f"/api/facts/{segment(id)}")
        return answer

    def me(self) -> Me:
        """Read the caller's name and scopes."""
        answer: Me = self._send("GET", "/api/me")
        return answer

    def list_scopes(self, *, limit: int | None = None, offset: int | None = None) -> Scopes:
        """List the memories of runs."""
        answer: Scopes = self._send("GET", "/api/memory", query={"limit": limit, "offset": offset})
        return answer

    def get_scope(self, scope: str) -> Remembered:
        """List the entries of a memory."""
        answer: Remembered = self._send("GET", f"/api/memory/{segment(scope)}")
        return answer

    def forget_scope(self, scope: str) -> None:
        """Erase a memory."""
        answer: None = self._send("DELETE", f"/api/memory/{segment(scope)}")
        return answer

    def forget_entry(self, scope: str, key: str) -> None:
        """Erase one entry of a memory."""
        answer: None = self._send("DELETE", f"/api/memory/{segment(scope)}/{segment(key)}")
        return answer

    def run_trace(self, id: str) -> Trace:
        """Export the trace of a run."""
        answer: Trace = self._send("GET", f"/api/runs/{segment(id)}/trace")
        return answer

    def list_traces(self) -> Files:
        """List the trace files of ended runs."""
        answer: Files = self._send("GET", "/api/files")
        return answer

    def read_trace(self, *, name: str) -> Any:
        """Download a trace file."""
        answer: Any = self._send("GET", "/api/file", query={"name": name})
        return answer

    def list_workspace(self, *, path: str | None = None) -> list[WorkspaceItem]:
        """List the files of the workspace."""
        answer: list[WorkspaceItem] = self._send("GET", "/api/workspace/files", query={"path": path})
        return answer

    def read_workspace(self, *, path: str) -> str:
        """Download a file of the workspace."""
        answer: str = self._send("GET", "/api/workspace/file", query={"path": path}, reads=str)
        return answer

    def search(self, *, q: str, limit: int | None = None) -> SearchResults:
        """Search runs, chats, workflows and documents."""
        answer: SearchResults = self._send("GET", "/api/search", query={"q": q, "limit": limit})
        return answer

    def status(self) -> Status:
        """Read the state of the server."""
        answer: Status = self._send("GET", "/api/status")
        return answer

    def live(self) -> Live:
        """Check that the server answers."""
        answer: Live = self._send("GET", "/api/health/live")
        return answer

    def ready(self) -> Health:
        """Check that the server accepts work."""
        answer: Health = self._send("GET", "/api/health/ready")
        return answer

    def startup(self) -> Health:
        """Check that the server has started."""
        answer: Health = self._send("GET", "/api/health/startup")
        return answer

    def drain(self, *, idempotency_key: str | None = None) -> Drained:
        """Finish active runs, accept nothing new, and stop."""
        answer: Drained = self._send("POST", "/api/lifecycle/drain", headers={"Idempotency-Key": idempotency_key})
        return answer

    def compact(self, *, idempotency_key: str | None = None) -> Compacted:
        """Remove deleted data from the disk."""
        answer: Compacted = self._send("POST", "/api/admin/compact", headers={"Idempotency-Key": idempotency_key})
        return answer

    def cluster(self) -> Nodes:
        """List the nodes of the cluster."""
        answer: Nodes = self._send("GET", "/api/cluster")
        return answer

    def metrics(self) -> str:
        """Read metrics, for Prometheus."""
        answer: str = self._send("GET", "/metrics", reads=str)
        return answer

    def openapi(self) -> dict[str, Any]:
        """Get this description."""
        answer: dict[str, Any] = self._send("GET", "/openapi.json")
        return answer

    def frames(self) -> dict[str, Any]:
        """Read the schema of every frame."""
        answer: dict[str, Any] = self._send("GET", "/schemas/frames.json")
        return answer

    def list_workflows(self, *, limit: int | None = None, offset: int | None = None) -> Workflows:
        """List saved workflows."""
        answer: Workflows = self._send("GET", "/api/workflows", query={"limit": limit, "offset": offset})
        return answer

    def create_workflow(self, body: WorkflowDocument, *, idempotency_key: str | None = None) -> Workflow:
        """Save a new workflow."""
        answer: Workflow = self._send(
            "POST",
            "/api/workflows",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def get_workflow(self, id: str) -> Workflow:
        """Read the newest version of a workflow."""
        answer: Workflow = self._send("GET", f"/api/workflows/{segment(id)}")
        return answer

    def save_workflow(self, id: str, body: WorkflowDocument, *, if_match: str) -> Workflow:
        """Save a new version of a workflow."""
        answer: Workflow = self._send(
            "PUT",
            f"/api/workflows/{segment(id)}",
            body=body,
            headers={"If-Match": if_match},
        )
        return answer

    def delete_workflow(self, id: str, *, if_match: str | None = None) -> None:
        """Erase a workflow."""
        answer: None = self._send("DELETE", f"/api/workflows/{segment(id)}", headers={"If-Match": if_match})
        return answer

    def workflow_history(self, id: str, *, limit: int | None = None, offset: int | None = None) -> Versions:
        """List the versions of a workflow."""
        answer: Versions = self._send(
            "GET",
            f"/api/workflows/{segment(id)}/history",
            query={"limit": limit, "offset": offset},
        )
        return answer

    def get_version(self, id: str, version: str) -> Workflow:
        """Read one version of a workflow."""
        answer: Workflow = self._send("GET", f"/api/workflows/{segment(id)}/versions/{segment(version)}")
        return answer

    def run_workflow(
        self,
        id: str,
        body: WorkflowRun | None = None,
        *,
        idempotency_key: str | None = None,
        prefer: str | None = None,
        traceparent: str | None = None,
    ) -> RunDetail | Rehearsal | Accepted:
        """Run a workflow."""
        answer: RunDetail | Rehearsal | Accepted = self._send(
            "POST",
            f"/api/workflows/{segment(id)}/runs",
            body=body,
            headers={"Idempotency-Key": idempotency_key, "Prefer": prefer, "traceparent": traceparent},
        )
        return answer

    def list_schedules(self) -> Schedules:
        """List schedules."""
        answer: Schedules = self._send("GET", "/api/schedules")
        return answer

    def create_schedule(self, body: ScheduleRequest, *, idempotency_key: str | None = None) -> Schedule:
        """Create a schedule."""
        answer: Schedule = self._send(
            "POST",
            "/api/schedules",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def get_schedule(self, name: str) -> Schedule:
        """Read a schedule."""
        answer: Schedule = self._send("GET", f"/api/schedules/{segment(name)}")
        return answer

    def change_schedule(self, name: str, body: ScheduleChanges) -> Schedule:
        """Change a schedule."""
        answer: Schedule = self._send("PATCH", f"/api/schedules/{segment(name)}", body=body)
        return answer

    def delete_schedule(self, name: str) -> None:
        """Erase a schedule."""
        answer: None = self._send("DELETE", f"/api/schedules/{segment(name)}")
        return answer

    def pause_schedule(self, name: str, *, idempotency_key: str | None = None) -> Schedule:
        """Pause a schedule."""
        answer: Schedule = self._send(
            "POST",
            f"/api/schedules/{segment(name)}/pause",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def resume_schedule(self, name: str, *, idempotency_key: str | None = None) -> Schedule:
        """Resume a schedule."""
        answer: Schedule = self._send(
            "POST",
            f"/api/schedules/{segment(name)}/resume",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def trigger_schedule(self, name: str, *, idempotency_key: str | None = None) -> Triggered:
        """Start a run of a schedule now."""
        answer: Triggered = self._send(
            "POST",
            f"/api/schedules/{segment(name)}/trigger",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def list_webhooks(self) -> Webhooks:
        """List webhooks."""
        answer: Webhooks = self._send("GET", "/api/webhooks")
        return answer

    def list_deliveries(
        self,
        name: str,
        *,
        limit: int | None = None,
        offset: int | None = None,
        status: Literal['pending', 'delivered', 'dead'] | None = None,
    ) -> Deliveries:
        """List the deliveries of a webhook."""
        answer: Deliveries = self._send(
            "GET",
            f"/api/webhooks/{segment(name)}/deliveries",
            query={"limit": limit, "offset": offset, "status": status},
        )
        return answer

    def redeliver(self, id: str, *, idempotency_key: str | None = None) -> Delivery:
        """Send a delivery again, with the same id and body."""
        answer: Delivery = self._send(
            "POST",
            f"/api/deliveries/{segment(id)}/redeliver",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def receive_hook(self, name: str, body: Any, *, idempotency_key: str | None = None) -> HookAnswer | HookBegun:
        """Start a run through a configured hook."""
        answer: HookAnswer | HookBegun = self._send(
            "POST",
            f"/hooks/{segment(name)}",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer
