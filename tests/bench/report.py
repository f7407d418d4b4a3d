"""Figures of a benchmark, printed as a table."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure, beside what was asked for."""

    name: str
    value: float
    unit: str = ""
    target: str = ""


def show(title: str, figures: Iterable[Figure]) -> None:
    """Print the table of one benchmark."""
    table = list(figures)
    # A long name moves the column, so that every line can be read.
    width = max([58, *(len(figure.name) for figure in table)])
    print(f"\n{title}" if table else f"\n{title}: not on this machine", flush=True)
    for figure in table:
        target = f"   (asked for: {figure.target})" if figure.target else ""
        print(f"  {figure.name:<{width}} {figure.value:>12,.3f} {figure.unit:<10}{target}", flush=True)
