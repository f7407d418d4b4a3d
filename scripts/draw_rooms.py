"""Draws docs/development/rooms/*.svg: the floors of each tree as import-linter keeps them, and what each room is for.

Floors come from the ``layers`` contracts of pyproject.toml, uses from the imports themselves, descriptions from the
rooms' docstrings: nothing is drawn by hand, so nothing in the pictures can be out of date.
"""

import ast
import re
import sys
import textwrap
import tomllib
from dataclasses import dataclass
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "docs" / "development" / "rooms"
WIDTH, MARGIN, GAP, LINE, COLUMNS = 1200, 20, 14, 17, 4
STYLE = """<style>
  text { font: 12.5px ui-sans-serif, system-ui, sans-serif; fill: #24292f }
  .name { font-weight: 650; font-size: 14px } .uses { fill: #57606a; font-size: 11.5px }
  .floor { fill: #f6f8fa; stroke: #d0d7de } .room { fill: #ffffff; stroke: #8c959f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .uses { fill: #9198a1 }
    .floor { fill: #151b23; stroke: #3d444d } .room { fill: #0d1117; stroke: #656c76 }
  }
</style>"""


@dataclass(frozen=True)
class Room:
    """One child of a tree: a package or a module, what it is for, and which rooms of the tree it imports."""

    name: str
    purpose: str
    uses: tuple[str, ...]

    def lines(self, characters: int) -> list[tuple[str, str]]:
        """(CSS class, text) of each line of its box."""
        uses = f"uses {', '.join(self.uses)}" if self.uses else "uses no other room"
        return [
            ("name", self.name),
            *(("purpose", line) for line in textwrap.wrap(self.purpose, characters)),
            *(("uses", line) for line in textwrap.wrap(uses, characters + 4)),
        ]


def main() -> int:
    """Draw every tree; with ``--check``, only tell whether the pictures are up to date."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    graph = grimp.build_graph(
        "dressage", "worker", "trainer_core", "kernels", exclude_type_checking_imports=True, cache_dir=None
    )
    stale = []
    for contract in contracts:
        for tree in contract.get("containers", ()):
            picture = draw(floors(graph, tree, contract["layers"]))
            path = OUT / f"{tree}.svg"
            if not path.exists() or path.read_text() != picture:
                stale.append(path)
                if "--check" not in sys.argv:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(picture)
    if "--check" in sys.argv and stale:
        names = ", ".join(str(path.relative_to(ROOT)) for path in stale)
        print(f"{names}: not what the code says; run 'make docs' and commit", file=sys.stderr)
        return 1
    return 0


def floors(graph: grimp.ImportGraph, tree: str, layers: list[str]) -> list[list[Room]]:
    """The rooms of each floor, top floor first."""
    names = [[name.strip(" ()") for name in re.split(r"[|:]", layer)] for layer in layers]
    children = {name for floor in names for name in floor}
    return [[_room(graph, tree, name, children) for name in sorted(floor)] for floor in names]


def _room(graph: grimp.ImportGraph, tree: str, name: str, children: set[str]) -> Room:
    module = f"{tree}.{name}"
    inside = {module, *graph.find_descendants(module)}
    used = {target for one in inside for target in graph.find_modules_directly_imported_by(one)}
    prefix = len(tree) + 1
    rooms = {target[prefix:].split(".")[0] for target in used if target.startswith(f"{tree}.")}
    return Room(name, _purpose(module), tuple(sorted(rooms & children - {name})))


def _purpose(module: str) -> str:
    """First sentence of the module's docstring."""
    path = ROOT / ("platform" if module.startswith("dressage") else ".") / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    doc = ast.get_docstring(ast.parse(file.read_text())) or ""
    first = " ".join(doc.split("\n\n")[0].split())
    return re.split(r"(?<=[.;])\s", first)[0].rstrip(".;").replace("`", "")


def draw(rows: list[list[Room]]) -> str:
    """An SVG of the floors, the top floor first; rooms of a floor may not import one another, nor anything above."""
    parts: list[str] = []
    y = MARGIN
    for row in rows:
        top = y
        y += GAP
        for start in range(0, len(row), COLUMNS):
            y = _draw_row(parts, row[start : start + COLUMNS], y)
        parts.insert(0, f'<rect class="floor" x="{MARGIN}" y="{top}" width="{WIDTH - 2 * MARGIN}" height="{y - top}"/>')
        y += GAP
    size = f'width="{WIDTH}" height="{y + MARGIN}" viewBox="0 0 {WIDTH} {y + MARGIN}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', STYLE, *parts, "</svg>", ""])


def _draw_row(parts: list[str], row: list[Room], y: int) -> int:
    """Draw boxes side by side; returns where the next row begins."""
    width = (WIDTH - 2 * MARGIN - GAP) // len(row) - GAP
    texts = [room.lines(width // 7) for room in row]
    height = LINE * max(map(len, texts)) + 14
    for place, lines in enumerate(texts):
        x = MARGIN + GAP + place * (width + GAP)
        parts.append(f'<rect class="room" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
        for number, (kind, text) in enumerate(lines):
            below = y + 20 + number * LINE
            parts.append(f'<text class="{kind}" x="{x + 12}" y="{below}">{escape(text)}</text>')
    return y + height + GAP


if __name__ == "__main__":
    sys.exit(main())
