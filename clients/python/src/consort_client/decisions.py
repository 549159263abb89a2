"""The decisions that a callback may return for a review: `approve()`, `edit(…)`, `reject(…)`, `exit_early()`."""

from __future__ import annotations

from .types import DecisionRequest


def approve() -> DecisionRequest:
    """The run goes on with what was made."""
    return {"decision": "APPROVE"}


def edit(output: str) -> DecisionRequest:
    """The run goes on with this instead; to a question it is the answer."""
    return {"decision": "EDIT", "revisedOutput": output}


def reject(feedback: str) -> DecisionRequest:
    """The task is done again with this feedback."""
    return {"decision": "REJECT", "feedback": feedback}


def exit_early() -> DecisionRequest:
    """The run ends here; what there is stands."""
    return {"decision": "EXIT_EARLY"}
