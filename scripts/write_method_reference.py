"""Writes docs/reference.md: every field of a run spec, with its meaning, default, unit, formula and source."""

import sys
from pathlib import Path
from typing import Any

from trainer_core.metrics import METRICS
from trainer_core.spec import RunSpec

OUT = Path(__file__).resolve().parents[1] / "docs" / "reference.md"
HEADER = """# Reference

Written from the code by `make docs`; do not edit. A field marked *steerable* may change while the run goes: at the next
dispatched prompt group, or at the next optimizer step.
"""


def main() -> int:
    """Write the page; with ``--check``, only tell whether it is up to date."""
    text = HEADER + _spec(RunSpec.model_json_schema()) + _metrics()
    if "--check" in sys.argv:
        return int(not OUT.exists() or OUT.read_text() != text)
    OUT.write_text(text)
    return 0


def _spec(schema: dict[str, Any]) -> str:
    parts = ["\n## Run spec\n"]
    for name, field in schema["properties"].items():
        parts.append(f"\n### `{name}`\n\n{field.get('description', '')}\n".replace("\n\n\n", "\n\n"))
        parts += [_member(member) for member in _members(field, schema["$defs"])]
    return "".join(parts)


def _members(field: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """The models behind a field: itself, the members of its union, or those of its items; nested models follow."""
    found: list[dict[str, Any]] = []
    for node in (field, field.get("items", {}), *field.get("oneOf", []), *field.get("anyOf", [])):
        reference = node.get("$ref", "").rpartition("/")[2]
        if reference and definitions[reference] not in found:
            member = definitions[reference]
            found.append(member)
            for child in member.get("properties", {}).values():
                found += [nested for nested in _members(child, definitions) if nested not in found]
        elif node is not field and "oneOf" in node:
            found += _members(node, definitions)
    return found


def _member(member: dict[str, Any]) -> str:
    lines = [f"\n**{member.get('title', '')}**. {_flat(member.get('description', ''))}\n"]
    if "formula" in member:
        lines.append(f"\n`{member['formula']}`  \nSource: {member['source']}.\n")
    fields = {
        name: info for name, info in member.get("properties", {}).items() if "const" not in info or name != "type"
    }
    if fields:
        lines.append("\n| field | default | unit | meaning |\n|---|---|---|---|\n")
        lines += [_row(name, info, name in member.get("required", [])) for name, info in fields.items()]
    return "".join(lines)


def _row(name: str, info: dict[str, Any], required: bool) -> str:
    default = (
        "required" if required else f"`{info.get('default')}`" if not isinstance(info.get("default"), dict) else ""
    )
    meaning = _flat(info.get("description", ""))
    if steer := info.get("steer"):
        meaning += f" *Steerable at the next {steer.replace('_', ' ')}.*"
    return f"| `{name}` | {default} | {info.get('unit', '')} | {meaning} |\n"


def _metrics() -> str:
    rows = ["\n## Metrics\n\n| name | unit | meaning |\n|---|---|---|\n"]
    rows += [f"| `{metric.name}` | {metric.unit} | {_flat(metric.formula)} |\n" for metric in METRICS.values()]
    return "".join(rows)


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
