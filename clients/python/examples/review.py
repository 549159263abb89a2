"""Brings a task of its own, and decides about what it made."""

from consort_client import Client, approve, reject
from consort_client.types import DecisionRequest, Review


def decide(review: Review) -> DecisionRequest:
    """Sends it back once, then takes it."""
    print(f"{review['taskName']} waits for a decision")
    return reject("Warmer, please") if review["reviewId"].endswith("-0") else approve()


with Client() as consort:
    run = consort.runs.create(
        {"tasks": [{"name": "letter", "description": "Write a letter of thanks", "review": "required"}]}
    )
    print(run.answer(on_review=decide))
