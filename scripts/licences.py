"""Holds the licence of every dependency, as `cargo metadata` lists them, against [licenses] of deny.toml."""

import json
import re
import sys
import tomllib


def is_met(expression, allowed):
    """Whether an SPDX expression can be met by these licences; a slash is an older way to write OR."""
    words = re.findall(r"[()]|[^\s()/]+(?: WITH [^\s()/]+)?", expression.replace("/", " OR "))
    terms = {"AND": "and", "OR": "or", "(": "(", ")": ")"}
    try:
        return eval(" ".join(terms.get(word) or str(word in allowed) for word in words))
    except SyntaxError:
        return False


def main(policy):
    with open(policy, "rb") as file:
        licences = tomllib.load(file)["licenses"]
    exceptions = {exception["crate"]: exception["allow"] for exception in licences.get("exceptions", [])}
    packages = [package for package in json.load(sys.stdin)["packages"] if package["source"]]
    refused = 0
    for package in packages:
        expression = package["license"] or ""
        if not is_met(expression, licences["allow"] + exceptions.get(package["name"], [])):
            print(f"{package['name']} {package['version']}: the licence '{expression}' is not allowed by {policy}")
            refused += 1
    print(f"licences: {len(packages)} dependencies, {refused} refused")
    return refused > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
