"""The curve of the platform's load as a picture (SVG): steps beside those of 4,096 GPUs, and the time of a sync."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 180, 56, 34, 40
"""Of a plot, its margins and the gap between two, in pixels."""
NEEDED, TARGET_S = 1.0, 0.25
STYLE = """<style>
  text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #495057 }
  .frame { fill: none; stroke: #adb5bd } .line { fill: none; stroke: #1c7ed6; stroke-width: 2 } .dot { fill: #1c7ed6 }
  .wanted { stroke: #e8590c; stroke-dasharray: 4 3 } .title { font-weight: 650 }
  @media (prefers-color-scheme: dark) { text { fill: #ced4da } .frame { stroke: #495057 } }
</style>"""


@dataclass(frozen=True)
class Point:
    """What was measured with a number of runs."""

    runs: int
    share: float
    """Steps in a second over those of 4,096 GPUs."""
    p95: float
    """Seconds of a sync."""


def picture(points: Sequence[Point]) -> str:
    """Two plots over the number of runs, all axes logarithmic; a dashed line shows what is wanted."""
    size = 2 * (LEFT + WIDTH) + GAP, TOP + HEIGHT + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" role="img" '
        'aria-label="Load of the platform by the number of runs">',
        STYLE,
        *_plot(points, "steps/s over those of 4,096 GPUs", lambda point: point.share, NEEDED, "×", LEFT),
        *_plot(points, "p95 of a sync", lambda point: point.p95, TARGET_S, " s", 2 * LEFT + WIDTH + GAP),
        "</svg>",
        "",
    ]
    return "\n".join(parts)


def _plot(
    points: Sequence[Point], title: str, value: Callable[[Point], float], wanted: float, unit: str, x: int
) -> list[str]:
    values = [max(value(point), 1e-3) for point in points]
    low = 10 ** math.floor(math.log10(min([*values, wanted])))
    high = 10 ** math.ceil(math.log10(max([*values, wanted]) * 1.001))
    last = math.log(max(point.runs for point in points) * 1.2)

    def place(runs: float, at: float) -> tuple[float, float]:
        across = math.log(runs) / last
        up = math.log(at / low) / math.log(high / low)
        return x + WIDTH * (0.03 + 0.94 * across), TOP + HEIGHT * (1 - up)

    placed = [place(point.runs, at) for point, at in zip(points, values, strict=True)]
    level = place(1, wanted)[1]
    parts = [
        f'<text class="title" x="{x}" y="{TOP - 12}">{title}</text>',
        f'<rect class="frame" x="{x}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<line class="wanted" x1="{x}" x2="{x + WIDTH}" y1="{level:.1f}" y2="{level:.1f}"/>',
        f'<polyline class="line" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in placed)}"/>',
    ]
    for exponent in range(round(math.log10(low)), round(math.log10(high)) + 1):
        y = place(1, 10**exponent)[1]
        parts.append(f'<text x="{x - 6}" y="{y + 4:.1f}" text-anchor="end">{10**exponent:g}{unit}</text>')
    for point, (across, up) in zip(points, placed, strict=True):
        parts.append(f'<circle class="dot" cx="{across:.1f}" cy="{up:.1f}" r="3"/>')
        parts.append(f'<text x="{across:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{point.runs}</text>')
    parts.append(f'<text x="{x + WIDTH / 2}" y="{TOP + HEIGHT + 33}" text-anchor="middle">runs</text>')
    return parts
