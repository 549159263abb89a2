"""Writes what is made and not written: the types and the methods of the API as openapi.json describes them, and the
client without `async` from the one with it. With `check` it only says whether that is up to date."""

from __future__ import annotations

import json
import keyword
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = HERE / "src" / "consort_client"
DESCRIPTION = HERE.parent.parent / "openapi.json"

Schema = dict[str, Any]

# Keywords that limit a value without changing its type, or say which of its fields go together.
LIMITS = {
    "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "pattern",
    "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contentMediaType", "contentSchema",
    "examples", "default",
}  # fmt: skip
KNOWN = LIMITS | {
    "description", "$ref", "type", "enum", "const", "properties", "required", "items", "additionalProperties",
    "anyOf", "allOf", "oneOf", "discriminator",
}  # fmt: skip
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
# The longest line of the sources.
WIDTH = 120


def capital(name: str) -> str:
    """`run_result` and `runResult` are `RunResult`."""
    return "".join(word[:1].upper() + word[1:] for word in re.split(r"[^A-Za-z0-9]+", name))


def snake(name: str) -> str:
    """`listRuns` is `list_runs`, and a word of the language gets a line below it."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    return words + "_" if keyword.iskeyword(words) else words


def union(types: list[str]) -> str:
    return " | ".join(dict.fromkeys(types)) or "Any"


def referred(schema: Schema) -> str:
    return str(schema["$ref"]).rsplit("/", 1)[-1]


def comment(text: str, indent: str) -> str:
    """A description as comments in front of what it describes."""
    lines: list[str] = []
    for paragraph in text.splitlines():
        line = ""
        for word in paragraph.split():
            if line and len(indent) + 2 + len(line) + 1 + len(word) > WIDTH:
                lines.append(line)
                line = word
            else:
                line = f"{line} {word}".strip()
        lines.append(line)
    return "".join(f"{indent}# {line}\n" for line in lines if line)


class Types:
    """The declarations, in an order in which each can be read."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self.schemas = schemas
        self.classes: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        for name, schema in schemas.items():
            self.declare(name, schema)

    def text(self) -> str:
        """All declarations."""
        head = (
            '"""The values of the API. Made from openapi.json by `python generate.py`."""\n\n'
            "from __future__ import annotations\n\n"
            "from typing import TYPE_CHECKING, Any, Literal, TypedDict\n\n"
            "if TYPE_CHECKING:\n    from typing_extensions import NotRequired, TypeAlias\n"
        )
        return head + "".join(f"\n\n{text}" for text in self.classes.values()) + "\n" + "".join(self.aliases.values())

    def declare(self, name: str, schema: Schema) -> None:
        if name in self.classes or name in self.aliases:
            return
        if name == "Event":
            # A frame is of a run or of a turn; one class has the fields of both.
            both = {"properties": {}, "description": schema["description"]}
            for choice in schema["anyOf"]:
                both["properties"] |= self.schemas[referred(choice)]["properties"]
            self.declare_class(name, [], both)
        elif "properties" in schema and "allOf" not in schema:
            self.declare_class(name, [], schema)
        elif "allOf" in schema and all("$ref" in part or "properties" in part for part in schema["allOf"]):
            self.declare_joined(name, schema)
        else:
            self.aliases[name] = ""
            text = comment(schema.get("description", ""), "")
            self.aliases[name] = f'\n{text}{name}: TypeAlias = "{self.type_of(schema, name)}"\n'

    def declare_joined(self, name: str, schema: Schema) -> None:
        """A class that has the fields of others and some of its own."""
        bases = [referred(part) for part in schema["allOf"] if "$ref" in part]
        for base in bases:
            self.declare(base, self.schemas[base])
        own: Schema = {"properties": {}, "required": [], "description": schema.get("description", "")}
        for part in schema["allOf"]:
            own["properties"] |= part.get("properties", {})
            own["required"] += part.get("required", [])
        self.declare_class(name, bases, own)

    def declare_class(self, name: str, bases: list[str], schema: Schema) -> None:
        """A choice of which fields are needed has no type: such fields may be absent."""
        self.known(schema)
        required = set(schema.get("required", []))
        fields = {
            field: (part, f"{self.type_of(part, name + capital(field))}")
            for field, part in schema["properties"].items()
        }
        fields = {
            field: (part, kind if field in required else f"NotRequired[{kind}]")
            for field, (part, kind) in fields.items()
        }
        words = schema.get("description", "")
        if all(field.isidentifier() and not keyword.iskeyword(field) for field in fields):
            body = "".join(
                f"{comment(part.get('description', ''), '    ')}    {field}: {kind}\n"
                for field, (part, kind) in fields.items()
            )
            text = f"class {name}({', '.join(bases) or 'TypedDict'}):\n"
            text += f'    """{words}"""\n\n' if words else ""
            self.classes[name] = text + (body or "    pass\n")
        else:
            # A field is named by a word of the language.
            for base in bases:
                inherited = self.schemas[base]["properties"] if base != "Event" else {}
                fields = {each: (part, self.type_of(part, base)) for each, part in inherited.items()} | fields
            body = "".join(f'        "{field}": "{kind}",\n' for field, (_, kind) in fields.items())
            self.classes[name] = f'{comment(words, "")}{name} = TypedDict(\n    "{name}",\n    {{\n{body}    }},\n)\n'

    def known(self, schema: Schema) -> None:
        strange = set(schema) - KNOWN
        if strange:
            raise SystemExit(f"generate.py does not know the keyword {strange.pop()} in {json.dumps(schema)[:200]}")

    def type_of(self, schema: Schema, name: str) -> str:
        """The type of a part; what has fields becomes a class of this name."""
        self.known(schema)
        if "$ref" in schema:
            return referred(schema)
        if "const" in schema:
            return f"Literal[{schema['const']!r}]".replace('"', "'")
        if "enum" in schema:
            return f"Literal[{', '.join(repr(value) for value in schema['enum'])}]"
        if "allOf" in schema or "properties" in schema:
            return self.nested(name, schema)
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return union([self.type_of(part, self.numbered(name, at)) for at, part in enumerate(schema[choice])])
        kinds = schema.get("type", [])
        return union([self.plain(kind, schema, name) for kind in ([kinds] if isinstance(kinds, str) else kinds)])

    def numbered(self, name: str, at: int) -> str:
        return name if at == 0 and name not in self.classes else f"{name}{at + 1}"

    def nested(self, name: str, schema: Schema) -> str:
        taken = self.aliases.get(name) is not None or name in self.schemas
        inner = f"{name}1" if taken else name
        self.declare(inner, schema)
        return inner

    def plain(self, kind: str, schema: Schema, name: str) -> str:
        if kind == "array":
            return f"list[{self.type_of(schema.get('items', {}), name)}]"
        if kind == "object":
            if "properties" in schema:
                return self.nested(name, schema)
            values = schema.get("additionalProperties")
            return f"dict[str, {self.type_of(values, name) if isinstance(values, dict) else 'Any'}]"
        return PLAIN[kind]


def content(holder: Schema) -> Schema:
    found: Schema = holder.get("content", {})
    return found


def answer_of(operation: Schema, types: Types) -> str:
    """The type of what a request answers: JSON where it can be had, else text."""
    kinds: list[str] = []
    for status, response in operation["responses"].items():
        if not status.startswith("2"):
            continue
        held = content(response)
        if "application/json" in held:
            kinds.append(
                types.type_of(held["application/json"]["schema"], capital(operation["operationId"]) + "Answer")
            )
        elif not held:
            kinds.append("None")
        elif not any(media == "text/event-stream" for media in held):
            kinds.append("str" if all(media.startswith("text/") for media in held) else "bytes")
    return union(kinds)


def body_of(operation: Schema, types: Types) -> tuple[str, str] | None:
    """The type of a request's body and whether it may be left out."""
    held = operation.get("requestBody")
    if not held:
        return None
    if "application/json" not in content(held):
        return "bytes", ""
    required = bool(held.get("required"))
    kind = types.type_of(content(held)["application/json"]["schema"], capital(operation["operationId"]) + "Body")
    return (kind, "") if required else (f"{kind} | None", " = None")


def method(path: str, verb: str, operation: Schema, types: Types, shared: Schema) -> str:
    """A request as a method: its path's values, its body, and by name what goes into query and headers."""
    parameters = [shared[referred(each)] if "$ref" in each else each for each in operation.get("parameters", [])]
    places = [each["name"] for each in parameters if each["in"] == "path"]
    named = [each for each in parameters if each["in"] in ("query", "header")]
    body = body_of(operation, types)
    words = [f"{snake(name)}: str" for name in places]
    if body:
        words.append(f"body: {body[0]}{body[1]}")
    if body and body[0] == "bytes":
        # What the bytes are is said with them.
        named = [{"name": "content-type", "in": "header", "required": True, "schema": {"type": "string"}}, *named]
    if named:
        words.append("*")
    for each in named:
        kind = types.type_of({key: value for key, value in each.get("schema", {}).items() if key != "default"}, "Value")
        words.append(
            f"{snake(each['name'])}: {kind}" if each.get("required") else f"{snake(each['name'])}: {kind} | None = None"
        )
    address = re.sub(r"\{(\w+)\}", lambda found: "{segment(" + snake(found.group(1)) + ")}", path)
    given = [f'"{verb.upper()}"', f'f"{address}"' if places else f'"{path}"']
    if body:
        given.append("body=body")
    for place, word in (("query", "query"), ("header", "headers")):
        pairs = [f'"{each["name"]}": {snake(each["name"])}' for each in named if each["in"] == place]
        if pairs:
            given.append(f"{word}={{{', '.join(pairs)}}}")
    returned = answer_of(operation, types).replace("None | None", "None")
    if returned in ("str", "bytes"):
        given.append(f"reads={returned}")
    name = snake(operation["operationId"])
    head = (
        f"    async def {name}(self, {', '.join(words)}) -> {returned}:"
        if words
        else f"    async def {name}(self) -> {returned}:"
    )
    if len(head) > WIDTH:
        head = (
            f"    async def {name}(\n        self,\n"
            + "".join(f"        {word},\n" for word in words)
            + f"    ) -> {returned}:"
        )
    line = f"        answer: {returned} = await self._send({', '.join(given)})"
    if len(line) > WIDTH:
        inner = "".join(f"            {each},\n" for each in given)
        line = f"        answer: {returned} = await self._send(\n{inner}        )"
    line += "\n        return answer"
    return f'{head}\n        """{operation["summary"]}."""\n{line}\n'


def methods(description: Schema, types: Types) -> str:
    """Every request but those that only a stream or a socket answers."""
    shared = description["components"].get("parameters", {})
    written = [
        method(path, verb, operation, types, shared)
        for path, verbs in description["paths"].items()
        for verb, operation in verbs.items()
        if isinstance(operation, dict) and operation.get("operationId") not in (None, "socket", "clusterLink")
    ]
    text = "\n".join(written)
    code = re.sub(r'""".*?"""', "", text)
    used = sorted({name for name in [*types.classes, *types.aliases] if re.search(rf"\b{name}\b", code)})
    names = "".join(f"    {name},\n" for name in used)
    extra = ["Any", *(["Literal"] if "Literal[" in text else [])]
    return (
        '"""Every request of the API as a method. Made from openapi.json by `python generate.py`."""\n\n'
        "from __future__ import annotations\n\n"
        "from collections.abc import Callable\n"
        f"from typing import {', '.join(extra)}\n\n"
        "from .._wire import segment\n"
        f"from ..types import (\n{names})\n\n\n"
        "class AsyncApi:\n"
        '    """The requests; `send` sends them."""\n\n'
        "    def __init__(self, send: Callable[..., Any]) -> None:\n"
        "        self._send = send\n\n"
        f"{text}"
    )


# The client without `async`: the same text with other words.
WORDS = [
    (r"(?m)^.*# async only\n", ""),
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\ba(close|iter_bytes|read)\b", r"\1"),
    (r"\bAsync(Api|Approver|Client|Iterator|Reviewer|Run|Runs|Thread|Threads|Transport|Turn)\b", r"\1"),
    (r"\bAwaitable\[([^\]]+)\] \| \1(?!\w)", r"\1"),
    (r"\bAwaitable\[T\]", "T"),
    (r"\basyncio\.sleep\b", "time.sleep"),
    (r"\bimport asyncio\b", "import time"),
    (r"\b_async\b", "_sync"),
]


def without_async(text: str, source: str) -> str:
    for pattern, word in WORDS:
        text = re.sub(pattern, word, text)
    return re.sub(
        r'^"""(.*?)"""',
        lambda found: f'"""{found.group(1)} Made from {source} by `python generate.py`."""',
        text,
        count=1,
        flags=re.S,
    )


def generated() -> dict[Path, str]:
    description = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
    types = Types(description["components"]["schemas"])
    # First the requests: what they describe in place is declared with the rest.
    files = {PACKAGE / "_async" / "api.py": methods(description, types)}
    files[PACKAGE / "types.py"] = types.text()
    for source in sorted((PACKAGE / "_async").glob("*.py")):
        text = files.get(source) or source.read_text(encoding="utf-8")
        # What is made from the description says so already.
        words = (
            without_async(text, f"_async/{source.name}")
            if source not in files
            else without_async(text, "").replace(" Made from  by `python generate.py`.", "")
        )
        files[PACKAGE / "_sync" / source.name] = words
    return files


def main() -> int:
    stale = 0
    for path, text in generated().items():
        if sys.argv[1:] != ["check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"clients/python/{path.relative_to(HERE)} is out of date: run `python3 clients/python/generate.py`")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
