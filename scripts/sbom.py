"""Lists what is in the binary: `sbom.py TARGET FOLDER` writes sbom.cdx.json (CycloneDX 1.6) and THIRD-PARTY.txt, the
licences of all of it, from `cargo metadata` on stdin, Cargo.lock and the packages of the web UI."""

import hashlib
import json
import os
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = "consort-cli"
# Files with the words of a licence, as people name them.
LICENCE = re.compile(r"^(licen[cs]e|copying|unlicense|notice)", re.IGNORECASE)


def crates(metadata):
    """The packages that the binary is linked from: no tests, and no build scripts' own."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [id for id, package in packages.items() if package["name"] == BINARY]
    found = {}
    while waiting:
        id = waiting.pop()
        if id in found:
            continue
        found[id] = packages[id]
        for dependency in nodes[id]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    return sorted(found.values(), key=lambda package: (package["name"], package["version"]))


def checksums():
    """The checksum of each crate that was fetched."""
    with open(ROOT / "Cargo.lock", "rb") as file:
        packages = tomllib.load(file)["package"]
    return {(package["name"], package["version"]): package.get("checksum") for package in packages}


def crate_component(package, sums):
    name, version = package["name"], package["version"]
    component = {"type": "library", "name": name, "version": version, "purl": f"pkg:cargo/{name}@{version}"}
    if package["license"]:
        # A slash is an older way to write OR.
        component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if sums.get((name, version)):
        component["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
    return component


def pages():
    """The packages that the pages of the web UI are built from, as npm has them installed."""
    lock = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))
    for path, package in lock["packages"].items():
        if path and not package.get("dev") and not package.get("optional"):
            name = path.rsplit("node_modules/", 1)[-1]
            component = {"type": "library", "name": name, "version": package["version"]}
            component["purl"] = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
            if package.get("license"):
                component["licenses"] = [{"expression": package["license"]}]
            yield component, ROOT / "web" / path


def bill(target, components):
    """The bill of materials; the same for the same sources."""
    text = json.dumps([target, components], sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    serial = f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
    own = [component for component in components if component["name"] == BINARY][0]
    about = {"type": "application", "name": "consort", "version": own["version"], "licenses": own["licenses"]}
    properties = [{"name": "consort:target", "value": target}]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": about, "properties": properties},
        "components": components,
    }


def words_of(folder):
    """The licence files of a package."""
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    for name in names:
        if LICENCE.match(name) and (folder / name).is_file():
            yield (folder / name).read_text(encoding="utf-8", errors="replace").strip()


def third_parties(places):
    """The licences of others, each text once with all whose it is."""
    whose = {}
    for title, licence, folder in places:
        for text in list(words_of(folder)) or [f"{licence}; the package has no licence file"]:
            whose.setdefault(text, []).append(title)
    rule = "=" * 80
    parts = [f"{rule}\n{', '.join(titles)}\n{rule}\n\n{text}\n" for text, titles in whose.items()]
    return "Consort contains the work of others, under these licences.\n\n" + "\n\n".join(parts)


def main(target, folder):
    packages = crates(json.load(sys.stdin))
    sums = checksums()
    components = [crate_component(package, sums) for package in packages]
    places = [
        (f"{package['name']} {package['version']}", package["license"], Path(package["manifest_path"]).parent)
        for package in packages
        if package["source"]
    ]
    for component, place in pages():
        components.append(component)
        licence = component.get("licenses", [{"expression": "unknown"}])[0]["expression"]
        places.append((f"{component['name']} {component['version']}", licence, place))
    out = Path(folder)
    (out / "sbom.cdx.json").write_text(json.dumps(bill(target, components), indent=1) + "\n", encoding="utf-8")
    (out / "THIRD-PARTY.txt").write_text(third_parties(places), encoding="utf-8")
    print(f"sbom: {len(components)} components")


if __name__ == "__main__":
    main(*sys.argv[1:])
