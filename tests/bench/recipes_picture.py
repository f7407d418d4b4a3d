"""The learning curves as small pictures side by side, one per recipe, one line per seed (SVG)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.bench.recipes import Curve

COLUMNS = 6
WIDTH, HEIGHT = 150, 90
"""Of one picture's plot, in pixels."""
LEFT, TOP, GAP = 26, 20, 14
COLOURS = ("#1c7ed6", "#e8590c", "#2f9e44")
"""Of the seeds."""


def picture(curves: Mapping[str, "Sequence[Curve]"], level: float, steps: int) -> str:
    """An SVG document; each plot is from 0 to 1 over ``steps``, with a dashed line at ``level``."""
    rows = -(-len(curves) // COLUMNS)
    size = COLUMNS * (WIDTH + LEFT + GAP), rows * (HEIGHT + TOP + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" '
        'font-size="11" fill="#495057">',
        f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>',
    ]
    for index, (name, found) in enumerate(curves.items()):
        x = index % COLUMNS * (WIDTH + LEFT + GAP) + LEFT
        y = index // COLUMNS * (HEIGHT + TOP + GAP) + TOP
        parts += _plot(name, found, level, steps, x, y)
    return "\n".join([*parts, "</svg>", ""])


def _plot(name: str, curves: "Sequence[Curve]", level: float, steps: int, x: int, y: int) -> list[str]:
    at = y + HEIGHT * (1.0 - level)
    parts = [
        f'<text x="{x}" y="{y - 6}" font-weight="bold">{name}</text>',
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#ced4da"/>',
        f'<line x1="{x}" x2="{x + WIDTH}" y1="{at:.1f}" y2="{at:.1f}" stroke="#adb5bd" stroke-dasharray="3 3"/>',
        f'<text x="{x - 4}" y="{at + 4:.1f}" text-anchor="end">{level:g}</text>',
    ]
    for curve, colour in zip(curves, COLOURS, strict=False):
        points = " ".join(
            f"{x + WIDTH * step / steps:.1f},{y + HEIGHT * (1.0 - share):.1f}"
            for step, share in sorted(curve.held_out.items())
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    return parts
