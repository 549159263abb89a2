"""Runs the server's ensemble and prints its answer."""

from consort_client import Client

with Client() as consort:
    run = consort.runs.create(topic="bees")
    print(run.answer())
