"""docs/simulation.md and its part of docs/benchmarks.md: what the code says, with the constants of the fit."""

import runpy

import pytest

from tests.support.about import LEARNING
from tests.support.installation import ROOT
from trainer_core.planning.cluster.published import CLAIMS
from trainer_core.planning.cluster.published.fit import CONSTANTS, distance
from trainer_core.planning.cluster.rates import FITTED

SUBJECTS = ("docs/benchmarks.md", "docs/simulation.md", "scripts", *LEARNING)


@pytest.mark.expensive(6, "simulates clusters", about=SUBJECTS)
def test_the_page_is_what_the_code_says() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_simulation_page.py"))
    assert (ROOT / "docs" / "simulation.md").read_text() == script["page"](), "run scripts/write_simulation_page.py"


@pytest.mark.expensive(3, "simulates clusters", about=SUBJECTS)
def test_the_systems_stand_among_the_benchmarks() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_simulation_page.py"))
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    assert text == script["benchmarks_page"](text), "run scripts/write_simulation_page.py"
    rows = [line.split(" | ") for line in script["systems_table"]().splitlines() if line.startswith("| ")]
    judged = [claim for claim in CLAIMS if not claim.fitted]
    assert [row[0].removeprefix("| ") for row in rows[1:]] == [claim.system for claim in judged]
    assert {row[4].removesuffix(" |")[0] for row in rows[1:]} <= {"+", "-"}
    with pytest.raises(ValueError, match="has no place for the simulated systems"):
        script["benchmarks_page"]("# Benchmarks\n")


def test_no_other_value_of_a_constant_brings_the_fitted_half_closer() -> None:
    half = [claim for claim in CLAIMS if claim.fitted]
    assert 0 < len(half) < len(CLAIMS) - len(half), "more figures judge than were fitted"
    best = distance(half, FITTED)
    for name in ("half_width", "turn_seconds"):
        change, values = CONSTANTS[name]
        assert best <= min(distance(half, change(FITTED, value)) for value in values) + 1e-12, name
