"""Runs several things at once and takes their answers as data."""

import asyncio
from typing import Any

from consort_client import AsyncClient, RunFailed

SCHEMA = {"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]}


async def summary(consort: AsyncClient, topic: str) -> Any:
    """One run of one task whose output fits the schema."""
    run = await consort.runs.create({"tasks": [{"description": f"Write about {topic}", "outputSchema": SCHEMA}]})
    return (await run.answer())["summary"]


async def main() -> None:
    async with AsyncClient() as consort:
        try:
            for line in await asyncio.gather(*(summary(consort, topic) for topic in ("bees", "tides", "volcanoes"))):
                print(line)
        except RunFailed as failure:
            print(failure)


asyncio.run(main())
