"""Writes docs/methods.md: every method with formula, source, parameters and advice; every other field; every metric."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainer_core.metrics import METRICS
from trainer_core.spec import RunSpec
from trainer_core.spec.base import Advice, SpecModel
from trainer_core.spec.recipes import list_published, list_recipes

OUT = Path(__file__).resolve().parents[1] / "docs" / "methods.md"
HEADER = """# Methods

Written from the code by `make docs`; do not edit. The first part holds the methods, each with its formula, its source
and what tells whether it works; then come the recipes, every other field of a run spec and every metric. Ratio bounds
are always the band itself, never an ε. A field marked *steerable* may change while the run goes: at the next dispatched
prompt group, or at the next optimizer step. `python -m trainer_core explain RECIPE` tells what a whole spec amounts to.
"""
NOT_BUILT = """
## Published and not built

- **DUET** (arXiv 2605.08441) gives each prompt its number of rollouts by a surrogate of what it will teach, and stops
  answers that show no answer marker, with importance weights for those that go on. The formula of its surrogate was not
  at hand. `batching.allocation` and `rollout.early_stop` hold other answers to the same two questions.
- **LenVM**, the length value model (arXiv 2604.27039), learns V = E[−(1 − γ^(L−t))], a proxy of the tokens that are
  left. The paper uses it while an answer is decoded; its appendix C names an advantage A_task + s·A_length for
  reinforcement learning and tries none.
- **ECHO** (arXiv 2605.24517) adds λ times the mean cross-entropy of the environment's tokens to GRPO's loss, which says
  something of failed rollouts as well. No token of a completion comes from an environment here yet; tools bring them.
  Others of its name clip by the batch's mean ratio (OpenReview 6SldMYKw98), or let a critic evolve with the policy.
"""

Schema = dict[str, Any]


def main() -> int:
    """Write the page; with ``--check``, only tell whether it is up to date."""
    text = page()
    if "--check" in sys.argv:
        return int(not OUT.exists() or OUT.read_text() != text)
    OUT.write_text(text)
    return 0


def page() -> str:
    """The whole page."""
    schema = RunSpec.model_json_schema()
    rooms = [(room, member) for room, member in _walk(schema, schema["$defs"], ()) if room]
    methods = [(room, member) for room, member in rooms if "formula" in member]
    parts = (_contents(methods), _methods(methods), _recipes(), NOT_BUILT, _fields(schema, rooms), _metrics())
    return HEADER + "".join(parts)


def _walk(
    node: Any, definitions: Schema, path: tuple[str, ...], seen: tuple[str, ...] = ()
) -> Iterator[tuple[str, Schema]]:
    """Every model behind a schema with the dotted path of its field, in the order of the spec."""
    if isinstance(node, list):
        for child in node:
            yield from _walk(child, definitions, path, seen)
    if not isinstance(node, dict):
        return
    name = str(node.get("$ref", "")).rpartition("/")[2]
    if name and name not in seen:
        yield ".".join(path), {**definitions[name], "name": name}
        yield from _walk({**definitions[name], "$ref": ""}, definitions, path, (*seen, name))
    for child, field in node.get("properties", {}).items():
        yield from _walk(field, definitions, (*path, child), seen)
    for key in ("oneOf", "anyOf", "allOf", "items"):
        yield from _walk(node.get(key), definitions, path, seen)


def _contents(methods: list[tuple[str, Schema]]) -> str:
    lines = ["\n"]
    for room in dict.fromkeys(room for room, _ in methods):
        titles = [member["title"] for place, member in methods if place == room]
        lines.append(f"- `{room}`: {', '.join(titles)}\n")
    return "".join(lines)


def _methods(methods: list[tuple[str, Schema]]) -> str:
    parts, last = ["\n## Methods\n"], ""
    for room, member in methods:
        if room != last:
            parts.append(f"\n### `{room}`\n")
            last = room
        parts.append(_method(room, member))
    return "".join(parts)


def _method(room: str, member: Schema) -> str:
    kind = member.get("properties", {}).get("type", {}).get("const")
    advice = _advice(SpecModel)[member["name"]]
    choice = f"`{room}: {{type: {kind}}}`" if kind else f"`{room}`"
    parts = [
        f"\n#### {member['title']}\n\n{choice} — {_flat(member.get('description', ''))}\n",
        f"\n```text\n{member['formula']}\n```\n\nSource: {member['source']}.\n",
        _table(member),
    ]
    if advice.when:
        parts.append(f"\n*When to use.* {advice.when}\n")
    if advice.watch:
        parts.append(f"\n*Watch.* {', '.join(f'`{name}`' for name in advice.watch)}\n")
    return "".join(parts)


def _advice(model: type[SpecModel]) -> dict[str, Advice]:
    """Advice on every method, by the name of its parameters' class, which is that of its definition in the schema."""
    own = {} if model.advice is None else {model.__name__: model.advice}
    return own | {name: advice for child in model.__subclasses__() for name, advice in _advice(child).items()}


def _recipes() -> str:
    """The presets: what each is, and where its methods are explained."""
    parts = ["\n## Recipes\n\nPresets in `trainer_core/spec/recipes/`; each file names the source of every figure.\n\n"]
    parts.append("| name | title | what it is |\n|---|---|---|\n")
    parts += [f"| `{recipe.name}` | {recipe.title} | {_flat(recipe.description)} |\n" for recipe in list_recipes()]
    parts.append(
        "\nAt published size, for real models, in `trainer_core/spec/recipes/published/`; what the planner says of "
        "them stands in [benchmarks-published.md](benchmarks-published.md).\n\n"
        "| name | title | machine | what it is |\n|---|---|---|---|\n"
    )
    parts += [
        f"| `{recipe.name}` | {recipe.title} | {recipe.published.machine} | {_flat(recipe.description)} |\n"
        for recipe in list_published()
        if recipe.published is not None
    ]
    return "".join(parts)


def _fields(schema: Schema, rooms: list[tuple[str, Schema]]) -> str:
    parts = ["\n## Fields of a run spec\n\nMethods are left out: they stand above.\n"]
    for name, field in schema["properties"].items():
        parts.append(f"\n### `{name}`\n\n{_flat(field.get('description', ''))}\n")
        shown: list[str] = []
        for room, member in rooms:
            if room.partition(".")[0] == name and "formula" not in member and member["title"] not in shown:
                shown.append(member["title"])
                parts.append(
                    f"\n**{member['title']}** (`{room}`). {_flat(member.get('description', ''))}\n{_table(member)}"
                )
    return "".join(parts)


def _table(member: Schema) -> str:
    fields = {n: info for n, info in member.get("properties", {}).items() if not (n == "type" and "const" in info)}
    if not fields:
        return ""
    rows = [_row(name, info, name in member.get("required", [])) for name, info in fields.items()]
    return "\n| field | default | unit | meaning |\n|---|---|---|---|\n" + "".join(rows)


def _row(name: str, info: Schema, required: bool) -> str:
    default = info.get("default")
    if isinstance(default, str):
        default = default.replace("\n", "\\n")  # a line break would end the row
    shown = "required" if required else "" if isinstance(default, dict) or "default" not in info else f"`{default}`"
    meaning = _flat(info.get("description", ""))
    if steer := info.get("steer"):
        meaning += f" *Steerable at the next {steer.replace('_', ' ')}.*"
    return f"| `{name}` | {shown} | {info.get('unit', '')} | {meaning} |\n"


def _metrics() -> str:
    rows = ["\n## Metrics\n\n| name | unit | meaning |\n|---|---|---|\n"]
    rows += [f"| `{metric.name}` | {metric.unit} | {_flat(metric.formula)} |\n" for metric in METRICS.values()]
    return "".join(rows)


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
