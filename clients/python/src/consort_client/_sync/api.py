"""Every request of the API as a method. Made from openapi.json by `python generate.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._wire import segment
from ..types import (
    Accepted,
    AddedDocument,
    Answered,
    ApprovalRequest,
    Approvals,
    CancelRequest,
    Capabilities,
    Collection,
    CollectionRequest,
    Collections,
    Compacted,
    Decided,
    DecisionRequest,
    DocumentRequest,
    Drained,
    Edits,
    Event,
    Facts,
    Files,
    Forgotten,
    Frames,
    Grants,
    Health,
    Hits,
    InjectRequest,
    Injected,
    InvokeRequest,
    Invoked,
    Live,
    Me,
    Messages,
    ModelRequest,
    Network,
    Rehearsal,
    Remembered,
    Reviews,
    RunDetail,
    RunRequest,
    Runs,
    Said,
    Say,
    Scopes,
    Status,
    Steered,
    Stopped,
    Switched,
    Thread,
    ThreadChange,
    ThreadRequest,
    Threads,
    Trace,
    Turns,
    Versions,
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
        limit: int | None = None,
        offset: int | None = None,
    ) -> Runs:
        """List runs, the newest first."""
        answer: Runs = self._send(
            "GET",
            "/api/runs",
            query={"status": status, "tag": tag, "limit": limit, "offset": offset},
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
        """Everything about a run."""
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
        """Begin nothing new until it is resumed."""
        answer: Steered = self._send(
            "POST",
            f"/api/runs/{segment(id)}/pause",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def resume_run(self, id: str, *, idempotency_key: str | None = None) -> Steered:
        """Go on."""
        answer: Steered = self._send(
            "POST",
            f"/api/runs/{segment(id)}/resume",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def switch_model(self, id: str, body: ModelRequest, *, idempotency_key: str | None = None) -> Switched:
        """Ask another model from now on."""
        answer: Switched = self._send(
            "POST",
            f"/api/runs/{segment(id)}/model",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def inject_directive(self, id: str, body: InjectRequest, *, idempotency_key: str | None = None) -> Injected:
        """Say something to the agents of a run."""
        answer: Injected = self._send(
            "POST",
            f"/api/runs/{segment(id)}/inject",
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
    ) -> RunDetail | Accepted:
        """Run what did not complete again."""
        answer: RunDetail | Accepted = self._send(
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
    ) -> RunDetail | Accepted:
        """A new run that begins with the record of another."""
        answer: RunDetail | Accepted = self._send(
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
        """A run's frames, as they come or page by page."""
        answer: Frames = self._send(
            "GET",
            f"/api/runs/{segment(id)}/events",
            query={"limit": limit, "events": events, "from": from_},
            headers={"Last-Event-ID": last_event_id},
        )
        return answer

    def list_reviews(self, *, run_id: str | None = None) -> Reviews:
        """What waits for a person."""
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
        """Calls of chats that wait for a person."""
        answer: Approvals = self._send("GET", "/api/approvals")
        return answer

    def answer_approval(self, id: str, body: ApprovalRequest, *, idempotency_key: str | None = None) -> Answered:
        """Allow a call, or not."""
        answer: Answered = self._send(
            "POST",
            f"/api/approvals/{segment(id)}",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def list_threads(self, *, q: str | None = None) -> Threads:
        """Conversations, the newest first."""
        answer: Threads = self._send("GET", "/api/threads", query={"q": q})
        return answer

    def create_thread(self, body: ThreadRequest | None = None, *, idempotency_key: str | None = None) -> Thread:
        """Begin a conversation."""
        answer: Thread = self._send(
            "POST",
            "/api/threads",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def get_thread(self, id: str) -> Thread:
        """A conversation."""
        answer: Thread = self._send("GET", f"/api/threads/{segment(id)}")
        return answer

    def change_thread(self, id: str, body: ThreadChange) -> Thread:
        """Rename a conversation, or change what its turn may do unasked."""
        answer: Thread = self._send("PATCH", f"/api/threads/{segment(id)}", body=body)
        return answer

    def delete_thread(self, id: str) -> None:
        """Erase a conversation."""
        answer: None = self._send("DELETE", f"/api/threads/{segment(id)}")
        return answer

    def list_messages(self, id: str) -> Messages:
        """What was said."""
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
        """Say something."""
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
        """A conversation's frames, as they come or page by page."""
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
        """Go on with the last answer, which was cut."""
        answer: Said = self._send(
            "POST",
            f"/api/threads/{segment(id)}/continue",
            headers={"Idempotency-Key": idempotency_key, "traceparent": traceparent},
        )
        return answer

    def stop_turn(self, id: str, *, idempotency_key: str | None = None) -> Stopped:
        """Stop the turn that runs."""
        answer: Stopped = self._send(
            "POST",
            f"/api/threads/{segment(id)}/stop",
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def export_thread(self, id: str) -> str:
        """A conversation as Markdown."""
        answer: str = self._send("GET", f"/api/threads/{segment(id)}/export", reads=str)
        return answer

    def list_grants(self, id: str) -> Grants:
        """What was allowed for the rest of a conversation."""
        answer: Grants = self._send("GET", f"/api/threads/{segment(id)}/grants")
        return answer

    def withdraw_grant(self, id: str, grant: str) -> None:
        """Take back what was allowed for the rest of a conversation."""
        answer: None = self._send("DELETE", f"/api/threads/{segment(id)}/grants/{segment(grant)}")
        return answer

    def list_turns(self, *, limit: int | None = None, offset: int | None = None) -> Turns:
        """What conversations have used, turn by turn."""
        answer: Turns = self._send("GET", "/api/turns", query={"limit": limit, "offset": offset})
        return answer

    def list_collections(self) -> Collections:
        """Collections of documents."""
        answer: Collections = self._send("GET", "/api/collections")
        return answer

    def create_collection(self, body: CollectionRequest, *, idempotency_key: str | None = None) -> Collection:
        """Make a collection."""
        answer: Collection = self._send(
            "POST",
            "/api/collections",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def get_collection(self, name: str) -> Collection:
        """A collection."""
        answer: Collection = self._send("GET", f"/api/collections/{segment(name)}")
        return answer

    def delete_collection(self, name: str) -> None:
        """Erase a collection with its documents."""
        answer: None = self._send("DELETE", f"/api/collections/{segment(name)}")
        return answer

    def add_document(
        self,
        name: str,
        body: DocumentRequest,
        *,
        idempotency_key: str | None = None,
    ) -> AddedDocument:
        """Add a document."""
        answer: AddedDocument = self._send(
            "POST",
            f"/api/collections/{segment(name)}/documents",
            body=body,
            headers={"Idempotency-Key": idempotency_key},
        )
        return answer

    def search_collection(self, name: str, *, q: str, limit: int | None = None) -> Hits:
        """Find passages."""
        answer: Hits = self._send(
            "GET",
            f"/api/collections/{segment(name)}/search",
            query={"q": q, "limit": limit},
        )
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
        """What a request can choose from."""
        answer: Capabilities = self._send("GET", "/api/capabilities")
        return answer

    def network(self) -> Network:
        """The other ensembles, and what they share."""
        answer: Network = self._send("GET", "/api/network")
        return answer

    def list_facts(self, *, limit: int | None = None, offset: int | None = None) -> Facts:
        """What is remembered about the caller."""
        answer: Facts = self._send("GET", "/api/facts", query={"limit": limit, "offset": offset})
        return answer

    def forget_facts(self) -> Forgotten:
        """Erase everything that is remembered about the caller."""
        answer: Forgotten = self._send("DELETE", "/api/facts")
        return answer

    def forget_fact(self, id: str) -> None:
        """Erase one fact."""
        answer: None = self._send("DELETE", f"/api/facts/{segment(id)}")
        return answer

    def me(self) -> Me:
        """Who the caller is, and what its key allows."""
        answer: Me = self._send("GET", "/api/me")
        return answer

    def list_scopes(self, *, limit: int | None = None, offset: int | None = None) -> Scopes:
        """What runs remember for later ones."""
        answer: Scopes = self._send("GET", "/api/memory", query={"limit": limit, "offset": offset})
        return answer

    def get_scope(self, scope: str) -> Remembered:
        """What is remembered under a name."""
        answer: Remembered = self._send("GET", f"/api/memory/{segment(scope)}")
        return answer

    def forget_scope(self, scope: str) -> None:
        """Forget everything under a name."""
        answer: None = self._send("DELETE", f"/api/memory/{segment(scope)}")
        return answer

    def forget_entry(self, scope: str, key: str) -> None:
        """Forget one entry."""
        answer: None = self._send("DELETE", f"/api/memory/{segment(scope)}/{segment(key)}")
        return answer

    def run_trace(self, id: str) -> Trace:
        """A run as it is exported for reading."""
        answer: Trace = self._send("GET", f"/api/runs/{segment(id)}/trace")
        return answer

    def list_traces(self) -> Files:
        """The files ended runs left."""
        answer: Files = self._send("GET", "/api/files")
        return answer

    def read_trace(self, *, name: str) -> Any:
        """A trace file."""
        answer: Any = self._send("GET", "/api/file", query={"name": name})
        return answer

    def list_workspace(self, *, path: str | None = None) -> list[WorkspaceItem]:
        """The files agents work on."""
        answer: list[WorkspaceItem] = self._send("GET", "/api/workspace/files", query={"path": path})
        return answer

    def read_workspace(self, *, path: str) -> str:
        """A file agents work on."""
        answer: str = self._send("GET", "/api/workspace/file", query={"path": path}, reads=str)
        return answer

    def status(self) -> Status:
        """How the server is."""
        answer: Status = self._send("GET", "/api/status")
        return answer

    def live(self) -> Live:
        """Whether the server answers."""
        answer: Live = self._send("GET", "/api/health/live")
        return answer

    def ready(self) -> Health:
        """Whether the server takes work."""
        answer: Health = self._send("GET", "/api/health/ready")
        return answer

    def startup(self) -> Health:
        """Whether the server has started."""
        answer: Health = self._send("GET", "/api/health/startup")
        return answer

    def drain(self, *, idempotency_key: str | None = None) -> Drained:
        """Finish what runs, take nothing new, and stop."""
        answer: Drained = self._send("POST", "/api/lifecycle/drain", headers={"Idempotency-Key": idempotency_key})
        return answer

    def compact(self, *, idempotency_key: str | None = None) -> Compacted:
        """Remove every byte of what was deleted from the disk."""
        answer: Compacted = self._send("POST", "/api/admin/compact", headers={"Idempotency-Key": idempotency_key})
        return answer

    def metrics(self) -> str:
        """What there is and what has happened, for Prometheus."""
        answer: str = self._send("GET", "/metrics", reads=str)
        return answer

    def openapi(self) -> dict[str, Any]:
        """This description."""
        answer: dict[str, Any] = self._send("GET", "/openapi.json")
        return answer

    def frames(self) -> dict[str, Any]:
        """Every frame of sockets and streams."""
        answer: dict[str, Any] = self._send("GET", "/schemas/frames.json")
        return answer

    def list_workflows(self, *, limit: int | None = None, offset: int | None = None) -> Workflows:
        """Saved workflows."""
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
        """The newest version."""
        answer: Workflow = self._send("GET", f"/api/workflows/{segment(id)}")
        return answer

    def save_workflow(self, id: str, body: WorkflowDocument, *, if_match: str) -> Workflow:
        """Save a new version."""
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
        """Who saved what and when."""
        answer: Versions = self._send(
            "GET",
            f"/api/workflows/{segment(id)}/history",
            query={"limit": limit, "offset": offset},
        )
        return answer

    def get_version(self, id: str, version: str) -> Workflow:
        """One version."""
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
