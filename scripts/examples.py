"""Puts answers the tests got into the examples of the API; the longest short one of each kind."""

import json
import pathlib
import sys

WIDTH = 110


def written(value, indent=0):
    """JSON with everything that fits on one line on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    pad, end = " " * (indent + 2), " " * indent
    if isinstance(value, dict):
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {written(item, indent + 2)}" for key, item in value.items()]
        return "{\n" + ",\n".join(pad + part for part in parts) + "\n" + end + "}"
    return "[\n" + ",\n".join(pad + written(item, indent + 2) for item in value) + "\n" + end + "]"


def main(examples, recorded):
    path = pathlib.Path(examples)
    document = json.loads(path.read_text())
    for file in sorted(pathlib.Path(recorded).glob("*.json")):
        answer = json.loads(file.read_text())
        request = f"{answer['method'].upper()} {answer['path']}"
        document.setdefault(request, {})[answer["status"]] = answer["body"]
    path.write_text(written(document) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
