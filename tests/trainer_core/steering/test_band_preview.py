"""The preview of a band, against what the curriculum really draws."""

import math
from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.trainer_core.specs import spec, weighted
from trainer_core.spec import RunSpec, apply_controls
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.curriculum.band_preview import BandPreview, dead_chance, preview
from trainer_core.steering.curriculum.histogram import BINS, bar, bars, edges, source_rates

BAND = {"type": "difficulty_band", "min_pass_rate": 0.2, "max_pass_rate": 0.8, "decay": 0.0, "explore": 0.15}
COLUMN = {"type": "goldilocks", "min_pass_rate": 0.2, "max_pass_rate": 0.8}
RATES = [0.0, 0.07, 0.125, 0.2, 0.29, 1 / 3, 0.5, 0.57, 0.7125, 0.8, 0.875, 0.99, 1.0]
DRAWS = 300


def made(curriculum: dict[str, Any], sizes: dict[str, int], tried: float = 0.8, **parts: Any) -> tuple[RunSpec, Any]:
    """A spec and a curriculum over sources of these sizes, of whose prompts a share was tried."""
    rng = Random(7)
    weights = {name: weight for name, weight in zip(sizes, (1.0, 2.5, 0.0), strict=False)}
    document = spec(data=weighted(**weights), curriculum=curriculum, **parts)
    rows = {
        name: [{"prompt": "p", "pass_rate": rng.choice(RATES)} for _ in range(count)] for name, count in sizes.items()
    }
    found = Curriculum(document, rows, 3)
    for name, listed in rows.items():
        for index, row in enumerate(listed):
            if rng.random() < tried:
                found.observe(f"{name}:{index}", row["pass_rate"])
    return document, found


def drawn(curriculum: Curriculum, document: RunSpec, calls: int = DRAWS) -> Counter[tuple[str, int | None]]:
    """Prompts that came in so many batches, by source and bar; None for never tried."""
    known = {name: dict(within._rates.items()) for name, within in _band_pools(curriculum).items()}
    counts: Counter[tuple[str, int | None]] = Counter()
    for _ in range(calls):
        for draw in curriculum.draw(document.schedule.prompts_per_step, 1):
            rate = draw.item["pass_rate"] if not known else known[draw.source].get(draw.row_index)
            counts[draw.source, None if rate is None else min(math.floor(rate * BINS + 1e-9), BINS - 1)] += 1
    return counts


def _band_pools(curriculum: Curriculum) -> dict[str, Any]:
    return {name: one for name, one in curriculum._within.items() if hasattr(one, "_outside")}


def expected(found: BandPreview) -> dict[tuple[str, int | None], float]:
    shares: dict[tuple[str, int | None], float] = {}
    for source in found.sources:
        shares |= {(source.name, index): share for index, share in enumerate(source.bins)}
        shares[source.name, None] = source.untried
    return shares


@pytest.mark.parametrize(
    ("sizes", "tried", "explore", "edges_"),
    [
        ({"a": 200, "b": 300, "c": 50}, 0.8, 0.15, (0.2, 0.8)),
        ({"a": 200, "b": 300}, 1.0, 0.0, (0.0, 0.07)),
        ({"a": 200, "b": 300}, 0.9, 0.5, (0.29, 0.29)),
        ({"a": 9, "b": 12}, 0.8, 0.15, (0.2, 0.8)),  # batches hold most of a source
        ({"a": 3, "b": 4}, 1.0, 0.3, (0.0, 0.5)),  # and more than all of it
        ({"a": 40, "b": 60}, 1.0, 0.1, (0.58, 0.6)),  # nothing inside
        ({"a": 40, "b": 60}, 0.0, 0.1, (0.2, 0.8)),  # nothing outside
        ({"a": 60, "b": 40}, 1.0, 1.0, (0.5, 1.0)),
    ],
)
def test_the_mix_of_batches_is_the_previewed_one(
    sizes: dict[str, int], tried: float, explore: float, edges_: tuple[float, float]
) -> None:
    band = {**BAND, "explore": explore, "min_pass_rate": edges_[0], "max_pass_rate": edges_[1]}
    document, curriculum = made(band, sizes, tried, schedule={"prompts_per_step": 16})
    histogram = curriculum.histogram()
    assert histogram is not None
    found = preview(document, 1, histogram)
    _compare(found, drawn(curriculum, document))
    pools = _band_pools(curriculum)
    assert [source.inside for source in found.sources] == [len(pools[source.name]._inside) for source in found.sources]
    wanted = [source.name for source in found.sources if not source.inside and source.share > 0.0]
    assert list(found.empty) == wanted


def _compare(found: BandPreview, counts: Counter[tuple[str, int | None]]) -> None:
    total, shares = sum(counts.values()), expected(found)
    assert math.fsum(shares.values()) == pytest.approx(1.0, abs=1e-9)
    assert set(counts) <= {key for key, share in shares.items() if share > 0.0}
    for key, share in shares.items():
        error = 5.0 * math.sqrt(share * (1.0 - share) / total) + 1e-9
        assert counts[key] / total == pytest.approx(share, abs=error), key


def test_a_column_of_pass_rates_is_previewed_as_it_is_drawn() -> None:
    document, curriculum = made(COLUMN, {"a": 40, "b": 60}, 0.0, schedule={"prompts_per_step": 16})
    histogram = curriculum.histogram()
    assert histogram is not None
    assert [source.untried for source in histogram] == [0, 0]
    _compare(preview(document, 1, histogram), drawn(curriculum, document))
    narrow = apply_controls(document, [("curriculum.min_pass_rate", 0.58), ("curriculum.max_pass_rate", 0.6)])
    with pytest.raises(ValueError, match="no prompt of the source 'a' is in the band"):
        preview(narrow, 1, histogram)
    with pytest.raises(ValueError, match="no row of the source 'a'"):
        curriculum.update_spec(narrow)


def test_dead_groups_are_counted_by_sampling() -> None:
    document, curriculum = made(BAND, {"a": 200, "b": 300}, 1.0, rollout={"group_size": 4})
    histogram = curriculum.histogram()
    assert histogram is not None
    found = preview(document, 1, histogram)
    rng, dead, groups = Random(1), 0, 0
    for _ in range(500):
        for draw in curriculum.draw(document.schedule.prompts_per_step, 1):
            wins = sum(rng.random() < draw.item["pass_rate"] for _ in range(draw.samples))
            dead += wins in (0, draw.samples)
            groups += 1
    assert found.dead_share is not None
    error = 5.0 * math.sqrt(found.dead_share * (1.0 - found.dead_share) / groups)
    assert dead / groups == pytest.approx(found.dead_share, abs=error)


def test_what_was_never_tried_is_as_dead_as_the_rest() -> None:
    parts = {"rollout": {"group_size": 2}, "schedule": {"prompts_per_step": 1}}
    document = spec(data=weighted(a=1.0, b=1.0), curriculum={**BAND, "explore": 0.0}, **parts)
    half, none = source_rates("a", 2, [0.5]), source_rates("b", 5, [])
    found = preview(document, 1, [half, none])
    assert found.dead_share == pytest.approx(0.5, abs=1e-12)
    assert [source.untried for source in found.sources] == [0.25, 0.5]
    assert preview(document, 1, [source_rates("a", 2, []), none]).dead_share is None


def test_the_chance_of_a_dead_group() -> None:
    assert dead_chance(0.0, 0.0, 8) == 1.0
    assert dead_chance(0.5, 0.5, 2) == 0.5
    assert dead_chance(0.0, 1.0, 4) == pytest.approx(2 / 5, abs=1e-12)
    points = [0.3 + 0.0025 * (index + 0.5) / 4000 for index in range(4000)]
    mean = math.fsum(p**8 + (1 - p) ** 8 for p in points) / len(points)
    assert dead_chance(0.3, 0.3025, 8) == pytest.approx(mean, rel=1e-9)


def test_weights_and_their_transition_count() -> None:
    document = spec(data=weighted(a=1.0, b=3.0), curriculum=BAND)
    sources = [source_rates("a", 50, [0.5] * 50), source_rates("b", 50, [0.5] * 50)]
    assert [source.share for source in preview(document, 1, sources).sources] == [0.25, 0.75]
    other = apply_controls(document, [("data.sources.b.weight", 0.0)])
    assert [source.share for source in preview(other, 1, sources).sources] == [1.0, 0.0]
    moving = {**weighted(a=1.0, b=3.0), "transition": {"start": 1, "end": 3, "sources": [{"name": "b", "weight": 1.0}]}}
    later = preview(spec(data=moving, curriculum=BAND), 2, sources)
    assert [source.share for source in later.sources] == [pytest.approx(1 / 3), pytest.approx(2 / 3)]


@pytest.mark.parametrize(
    "curriculum",
    [{"type": "uniform"}, {"type": "difficulty_target"}, {"type": "goldilocks", "columns": ["one", "two"]}],
)
def test_what_draws_by_no_single_band_is_refused(curriculum: dict[str, Any]) -> None:
    document = spec(data=weighted(a=1.0), curriculum=curriculum)
    with pytest.raises(ValueError, match="only a band over one pass rate"):
        preview(document, 1, [source_rates("a", 1, [0.5])])
    rows = {"a": [{"prompt": "", "one": 0.5, "two": 0.5}]}
    told = Curriculum(document, rows, 0).histogram()
    assert (told is None) == (curriculum["type"] != "difficulty_target")


def test_cells_part_every_hundredth_from_its_neighbours() -> None:
    for hundredth in range(101):
        rate = hundredth / 100
        ((cell, count),) = source_rates("a", 1, [rate]).cells
        assert (edges(cell), count) == ((rate, rate), 1)
    for rate in (math.nextafter(0.07, 0), math.nextafter(0.07, 1), 1e-300, math.nextafter(1.0, 0), 1 / 3):
        ((cell, _),) = source_rates("a", 1, [rate]).cells
        low, high = edges(cell)
        assert low < rate < high
    assert [bar(cell) for cell in (0, 1, 39, 40, 799, 800)] == [0, 0, 0, 1, 19, 19]
    found = source_rates("a", 10, [0.5, 0.5, 0.51, 1.0])
    assert (found.untried, found.cells) == (6, ((400, 2), (408, 1), (800, 1)))
    assert bars(found.cells) == [0] * 10 + [3] + [0] * 8 + [1]
