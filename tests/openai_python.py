"""Talks to the built server with OpenAI's own Python package, and holds every answer against its types; then once more
with its package for JavaScript, when that is installed. `scripts/judge` installs both."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/python/tests"))
from harness import KEY, FakeModel, Served, with_fake_model  # noqa: E402

import openai  # noqa: E402
import pydantic  # noqa: E402
from openai.types.chat import ChatCompletion, ChatCompletionChunk  # noqa: E402
from openai.types.responses import Response, ResponseStreamEvent  # noqa: E402

AUX = '\n[models.small]\nprovider = "demo"\nmodel = "demo"\n[openai]\naux_model = "small"\n[chat]\npermission_mode = "auto"\n'
# A picture of one point.
PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
# What a chat UI sends beside every message, with the model of the conversation.
TITLE = "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Chat History:\nhi"
TAGS = "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n### Chat History:\nhi"


def fits(kind, answer):
    """The answer, which must fit the type without any conversion."""
    pydantic.TypeAdapter(kind).validate_python(answer.to_dict() if hasattr(answer, "to_dict") else answer, strict=False)
    return answer


def user(content):
    return [{"role": "user", "content": content}]


def completions(client, model):
    whole = fits(ChatCompletion, client.chat.completions.create(model="consort", messages=user("[say forty two]")))
    assert whole.choices[0].message.content == "forty two", whole
    assert whole.choices[0].finish_reason == "stop" and whole.usage.total_tokens == 20, whole
    stream = client.chat.completions.create(
        model="consort", messages=user("[words 5] [hold stream]"), stream=True, stream_options={"include_usage": True}
    )
    chunks = []
    for chunk in stream:
        chunks.append(fits(ChatCompletionChunk, chunk))
        if chunk.choices and chunk.choices[0].delta.content:
            # The first word came while the model still had the others.
            model.go_on("stream")
    said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert said.split() == [f"wörd{number}" for number in range(1, 6)], said
    assert chunks[-1].usage.total_tokens == 20 and not chunks[-1].choices
    called = client.chat.completions.create(model="consort", messages=user("[call ring_bell {\"input\": \"x\"}] [say rung]"))
    assert called.choices[0].message.tool_calls is None and called.choices[0].message.content == "rung", called
    assert "ring_bell" in called.choices[0].message.reasoning_content, called


def a_chat_ui(client):
    history = [{"role": "system", "content": "Be brief."}] + user("hi") + [{"role": "assistant", "content": "hello"}]
    said = client.chat.completions.create(model="consort", messages=history + user("[say well]"), temperature=0.7)
    assert said.choices[0].message.content == "well"
    for prompt in (TITLE, TAGS):
        aside = client.chat.completions.create(model="consort", messages=user(prompt), stream=False, max_tokens=1000)
        assert "wörd" not in aside.choices[0].message.content, "the demo model answers, not the chat's"


def responses(client):
    first = fits(Response, client.responses.create(model="consort", input="[say one]"))
    assert first.output_text == "one" and first.status == "completed", first
    second = client.responses.create(model="consort", input="[say two]", previous_response_id=first.id)
    assert second.output_text == "two" and second.previous_response_id == first.id
    assert second.conversation.id == first.conversation.id
    with client.responses.stream(model="consort", input="[words 4] [pace 20]") as stream:
        events = [event for event in stream]
        assert stream.get_final_response().output_text.split() == [f"wörd{number}" for number in range(1, 5)]
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds
    raw = client.responses.create(model="consort", input="[call ring_bell {\"input\": \"x\"}] [say rung]", stream=True)
    for event in raw:
        fits(ResponseStreamEvent, event)


def pictures(client):
    """A picture reaches the model, from either endpoint, as bytes and as an attachment, also from earlier messages."""
    image = {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}}
    asked = user([{"type": "text", "text": "[look]"}, image])
    assert client.chat.completions.create(model="consort", messages=asked).choices[0].message.content.strip() == PICTURE
    later = user([image]) + [{"role": "assistant", "content": "fine"}] + user("[look]")
    assert client.chat.completions.create(model="consort", messages=later).choices[0].message.content.strip() == PICTURE
    table = {"type": "file", "file": {"filename": "prices.csv", "file_data": "data:text/csv;base64,dGVhLDM="}}
    said = client.chat.completions.create(model="consort", messages=user([{"type": "text", "text": "[say ok]"}, table]))
    assert said.choices[0].message.content == "ok"
    shown = [{"type": "input_text", "text": "[look]"}, {"type": "input_image", "image_url": PICTURE, "detail": "auto"}]
    first = fits(Response, client.responses.create(model="consort", input=[{"role": "user", "content": shown}]))
    assert first.output_text.strip() == PICTURE, first
    again = client.responses.create(model="consort", input="[look]", previous_response_id=first.id)
    assert again.output_text.strip() == PICTURE, "the conversation has it"
    far = [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]
    wrong = raises(openai.BadRequestError, lambda: client.chat.completions.create(model="consort", messages=user(far)))
    assert "not fetched" in wrong.message, wrong
    for url, status, said in [
        ("data:image/png;base64,aGV5", 415, "image/png"),
        ("data:image/png,aGV5", 400, "without `;base64`"),
        ("data:image/png;base64,a*", 400, "'*'"),
        ("data:image/png;base64," + "A" * 200_000, 413, "max_attachment_bytes allows 100000"),
    ]:
        odd = [{"type": "image_url", "image_url": {"url": url}}]
        refused = raises(openai.APIStatusError, lambda: client.chat.completions.create(model="consort", messages=user(odd)))
        assert (refused.status_code, refused.type) == (status, "invalid_request_error"), refused
        assert said in refused.message and refused.param == "messages[0].content[0]", refused


def a_run(client):
    answer = client.chat.completions.create(model="consort/newsroom", messages=user("x"), metadata={"topic": "wasps"})
    assert "wörd40" in answer.choices[0].message.content
    assert "research: done" in answer.choices[0].message.reasoning_content


def raises(kind, call):
    """The failure of a call, which must fail like this."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def failures(client, url):
    missing = raises(openai.NotFoundError, lambda: client.chat.completions.create(model="gpt-4", messages=user("x")))
    assert missing.code == "model_not_found" and missing.param == "model", missing
    wrong = raises(openai.BadRequestError, lambda: client.chat.completions.create(model="consort", messages=[]))
    assert wrong.type == "invalid_request_error" and wrong.param == "messages", wrong
    foreign = openai.OpenAI(base_url=f"{url}/v1", api_key="another", max_retries=0)
    assert raises(openai.AuthenticationError, foreign.models.list).code == "invalid_api_key"
    raises(openai.NotFoundError, lambda: client.responses.create(model="consort", input="x", previous_response_id="turn-1"))


def killed_in_the_middle(client, served, model):
    """The conversation goes on where it was, and the answer that was cut off is there."""
    client.responses.create(model="consort", input="[say one]", conversation="kept")
    stream = client.responses.create(model="consort", input="[words 30] [hold kill]", conversation="kept", stream=True)
    ident = next(iter(stream)).response.id
    served.kill()
    served.start()
    model.go_on("kill")
    after = client.responses.create(model="consort", input="[say three]", previous_response_id=ident)
    assert after.output_text == "three"
    third = client.responses.create(model="consort", input="[say four]", conversation="kept")
    assert third.conversation.id == after.conversation.id


def main():
    model = FakeModel()
    config = with_fake_model(model, AUX).replace('model = "fake"\n', 'model = "fake"\nvision = true\n')
    config = config.replace("[server]\n", "[server]\nmax_attachment_bytes = 100000\n", 1)
    served = Served(config)
    try:
        client = openai.OpenAI(base_url=f"{served.url}/v1", api_key=KEY, max_retries=0)
        assert {"consort", "consort/newsroom"} <= {listed.id for listed in client.models.list()}
        completions(client, model)
        a_chat_ui(client)
        responses(client)
        pictures(client)
        a_run(client)
        failures(client, served.url)
        killed_in_the_middle(client, served, model)
        print("openai for Python: fine")
        node = ROOT / "target/judge-node"
        if (node / "ready").exists():
            script = (ROOT / "tests/openai_node.mjs").read_text(encoding="utf-8")
            (node / "judge.mjs").write_text(script, encoding="utf-8")
            env = os.environ | {"CONSORT_URL": served.url, "CONSORT_API_KEY": KEY}
            subprocess.run(["node", "judge.mjs"], cwd=node, env=env, check=True)
    finally:
        served.close()
        model.close()


main()
