"""Checks request bodies, one on each line, against the types of a provider's own client. Fields that are missing or
unknown are mistakes, wherever in the body they are."""

import base64
import json
import sys
import typing

# What is typed as an iterable is checked only when it is read, too late for us. Before the clients are imported:
typing.Iterable = typing.List

import pydantic
import typing_extensions


def strict(kind, seen):
    """The same type, refusing unknown fields: the clients' types allow them."""
    is_model = isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)
    if not is_model and not typing_extensions.is_typeddict(kind):
        for inner in typing.get_args(kind):
            strict(inner, seen)
    elif kind not in seen:
        seen.add(kind)
        if is_model:
            for field in kind.model_fields.values():
                strict(field.annotation, seen)
            kind.model_config["extra"] = "forbid"
            kind.model_rebuild(force=True)
        else:
            for hint in typing_extensions.get_type_hints(kind, include_extras=True).values():
                strict(hint, seen)
            kind.__pydantic_config__ = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return kind


def typed(kind):
    return pydantic.TypeAdapter(strict(kind, set())).validate_python


def anthropic():
    from anthropic.types import message_create_params

    types = typed(message_create_params.MessageCreateParamsStreaming)

    def check(body):
        # The API takes these from every model that samples; the client's types list them no more.
        for name in ("temperature", "top_p"):
            if not isinstance(body.pop(name, 0.0), (int, float)):
                raise ValueError(f"{name} is not a number")
        types(body)

    return check


def openai_chat():
    from openai.types.chat import completion_create_params

    return typed(completion_create_params.CompletionCreateParamsStreaming)


def openai_responses():
    from openai.types.responses import response_create_params

    return typed(response_create_params.ResponseCreateParamsStreaming)


def gemini():
    """Google's client has a strict type for each part of the body and none for the whole."""
    from google.genai import types

    def check(body):
        parts = {"contents": [], "systemInstruction": {}, "tools": [], "generationConfig": {}} | body
        for content in [parts.pop("systemInstruction"), *parts.pop("contents")]:
            types.Content.model_validate(content)
        for tool in parts.pop("tools"):
            types.Tool.model_validate(tool)
        types.GenerateContentConfig.model_validate(parts.pop("generationConfig"))
        if parts:
            raise ValueError(f"unknown fields: {sorted(parts)}")

    return check


def otlp():
    """Spans as protobuf, beside what they mean as JSON: both must be the same message, with nothing unknown in it."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    def hexadecimal(spans):
        """Ids are base64 to protobuf's own JSON and hexadecimal to OTLP's."""
        for span in spans["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for name in ("traceId", "spanId", "parentSpanId"):
                span[name] = base64.b64decode(span.get(name, "")).hex()
            span.setdefault("status", {})
            span["kind"] = {"SPAN_KIND_INTERNAL": 1, "SPAN_KIND_CLIENT": 3}[span["kind"]]
            if "code" in span["status"]:
                span["status"]["code"] = {"STATUS_CODE_ERROR": 2}[span["status"]["code"]]
        return spans

    def check(body):
        request = ExportTraceServiceRequest()
        request.ParseFromString(bytes.fromhex(body["bytes"]))
        if request.SerializeToString() != bytes.fromhex(body["bytes"]):
            raise ValueError("it is written otherwise")
        read = hexadecimal(json_format.MessageToDict(request))
        if read != body["means"]:
            raise ValueError(f"it reads {json.dumps(read)}")

    return check


APIS = {"otlp": otlp, "anthropic": anthropic, "openai-chat": openai_chat, "openai-responses": openai_responses, "gemini": gemini}


def main(api):
    check, mistakes = APIS[api](), 0
    for body in map(json.loads, sys.stdin):
        try:
            check(body)
        except ValueError as mistake:
            mistakes += 1
            print(f"{api}: {json.dumps(body)}\n{str(mistake)[:3000]}", file=sys.stderr)
    sys.exit(1 if mistakes else 0)


main(sys.argv[1])
