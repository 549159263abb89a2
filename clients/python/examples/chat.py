"""Talks with the assistant, word by word, and denies every call that needs permission."""

from consort_client import Client

with Client() as consort:
    thread = consort.threads.create("Sums")
    for content in ("What is 42 * 17?", "And 6 * 7?"):
        print(f"> {content}")
        for frame in thread.say(content).stream(on_approval=lambda call: "deny"):
            if frame["type"] == "chunk" and frame["depth"] == 0:
                print(frame["content"], end="", flush=True)
        print()
