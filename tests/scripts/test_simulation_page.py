"""docs/simulation.md: it is what the code says, and its constants are those of the fit."""

import runpy

from tests.support.installation import ROOT
from trainer_core.planning.cluster.published import CLAIMS
from trainer_core.planning.cluster.published.fit import CONSTANTS, distance
from trainer_core.planning.cluster.rates import FITTED


def test_the_page_is_what_the_code_says() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "write_simulation_page.py"))
    assert (ROOT / "docs" / "simulation.md").read_text() == script["page"](), "run scripts/write_simulation_page.py"


def test_no_other_value_of_a_constant_brings_the_fitted_half_closer() -> None:
    half = [claim for claim in CLAIMS if claim.fitted]
    assert 0 < len(half) < len(CLAIMS) - len(half), "more figures judge than were fitted"
    best = distance(half, FITTED)
    for name in ("half_width", "turn_seconds"):
        change, values = CONSTANTS[name]
        assert best <= min(distance(half, change(FITTED, value)) for value in values) + 1e-12, name
