"""Puts answers the tests got into openapi.json as its examples; the longest short one of each kind."""

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


def main(description, recorded):
    path = pathlib.Path(description)
    document = json.loads(path.read_text())
    for file in pathlib.Path(recorded).glob("*.json"):
        answer = json.loads(file.read_text())
        operation = document["paths"][answer["path"]][answer["method"]]
        operation["responses"][answer["status"]]["content"]["application/json"]["example"] = answer["body"]
    path.write_text(written(document) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
