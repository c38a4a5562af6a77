"""Writes the software bill of materials of a program or library: all crates that are linked into it, with their
versions, licences, checksums and dependencies, in CycloneDX 1.6.

    python tools/release/sbom.py PACKAGE [--target TRIPLE] [--features LIST] [--output FILE]

PACKAGE is a package of the workspace: feeler-cli (the program), feeler-capi (the C library) or feeler-python (the
wheel). Two runs on one commit write the same bytes. tools/release/requirements.txt lists what the script needs.
Exit status 1 if a crate has no licence or no checksum, or if the document does not match the schema.
"""

import argparse
import json
import subprocess
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[2]
# Names of one bill in the namespace of URLs differ by package, version and commit.
NAMESPACE = uuid.NAMESPACE_URL


def output_of(command: list[str]) -> str:
    """Returns what a command in the root of the project prints."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def linked_packages(metadata: dict, root: str) -> dict[str, list[str]]:
    """Returns the ids of all packages that the package with the id `root` links, each with the ids of those that it
    links itself. Dependencies for tests and build scripts are not linked."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found: dict[str, list[str]] = {}
    open_ids = [root]
    while open_ids:
        package = open_ids.pop()
        if package in found:
            continue
        deps = nodes[package]["deps"]
        linked = [d["pkg"] for d in deps if any(kind["kind"] is None for kind in d["dep_kinds"])]
        found[package] = sorted(linked)
        open_ids += linked
    return found


def component(package: dict, checksums: dict[tuple[str, str], str]) -> Component:
    """Returns the entry of a package. Raises ValueError without a licence, or without a checksum of a crate from a
    registry."""
    name, version = package["name"], package["version"]
    licence = package["license"]
    if not licence:
        raise ValueError(f"{name} {version} states no licence: add it to deny.toml and to the bill by hand")
    hashes = []
    if package["source"] is not None:
        checksum = checksums.get((name, version))
        if checksum is None:
            raise ValueError(f"{name} {version} has no checksum in Cargo.lock: run `cargo update --workspace`")
        hashes = [HashType(alg=HashAlgorithm.SHA_256, content=checksum)]
    purl = PackageURL("cargo", None, name, version)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        purl=purl,
        # Old manifests separate alternatives by a slash.
        licenses=[LicenseExpression(licence.replace("/", " OR "))],
        hashes=hashes,
        description=package["description"],
    )


def bill(package: str, target: str, features: str | None) -> Bom:
    """Returns the bill of materials of a package of the workspace for a target."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(output_of(command + (["--features", features] if features else [])))
    packages = {p["id"]: p for p in metadata["packages"]}
    roots = [i for i in metadata["workspace_members"] if packages[i]["name"] == package]
    if not roots:
        raise ValueError(f"{package} is not a package of the workspace")
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock["package"] if "checksum" in p}
    linked = linked_packages(metadata, roots[0])
    components = {i: component(packages[i], checksums) for i in sorted(linked)}
    main = components.pop(roots[0])
    main.type = ComponentType.APPLICATION if package == "feeler-cli" else ComponentType.LIBRARY
    time, commit = output_of(["git", "log", "-1", "--format=%ct %H"]).split()
    name = f"{package} {main.version} {target} {commit}"
    metadata_of_bill = BomMetaData(component=main, timestamp=datetime.fromtimestamp(int(time), UTC))
    bom = Bom(components=components.values(), metadata=metadata_of_bill, serial_number=uuid.uuid5(NAMESPACE, name))
    bom.register_dependency(main, [components[i] for i in linked[roots[0]]])
    for i, entry in components.items():
        bom.register_dependency(entry, [components[k] for k in linked[i]])
    return bom


def main() -> int:
    """Writes the bill and returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--target", default=output_of(["rustc", "--print", "host-tuple"]).strip())
    parser.add_argument("--features")
    parser.add_argument("--output", type=Path)
    args = parser.parse_args()
    try:
        bom = bill(args.package, args.target, args.features)
    except (ValueError, subprocess.CalledProcessError) as error:
        print(f"sbom.py: {error}{getattr(error, 'stderr', None) or ''}", file=sys.stderr)
        return 1
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2) + "\n"
    invalid = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if invalid:
        print(f"sbom.py: the document does not match the schema: {invalid}", file=sys.stderr)
        return 1
    if args.output:
        args.output.write_text(text, encoding="utf-8")
        print(f"{args.output}: {len(bom.components)} crates")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
