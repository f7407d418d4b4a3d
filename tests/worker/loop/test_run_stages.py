"""Runs that mix files as other people have them, in stages, and start from what was measured of their rows."""

import io
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dressage.datasets.files.reading import UploadedRows
from tests.worker.loop.platform_double import PlatformDouble

SHARED = Path(os.environ.get("SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
GSM8K = [{"question": f"Ann has {n} pens and buys 2. How many?", "answer": f"{n}+2\n#### {n + 2}"} for n in range(9)]
DEEPMATH = [
    {
        "id": str(n),
        "source": "deepmath_103k",
        "difficulty": "4.5",
        "prompt": "",
        "messages": json.dumps([{"role": "user", "content": f"Find {n} squared."}]),
        "ground_truth": str(n * n),
        "case_type": "",
        "test_case_function": "",
        "test_cases": "",
        "tag": "deepmath_103k",
    }
    for n in range(9)
]
FILES = {
    "gsm8k": ("gsm8k/test.jsonl", "\n".join(map(json.dumps, GSM8K))),
    "mgsm": ("mgsm/mgsm_es.tsv", "\n".join(f"Ana tiene {n} lapices y compra 2.\t{n + 2}" for n in range(9))),
    "deepmath": ("intmath/deepmath_integer_answers.jsonl", "\n".join(map(json.dumps, DEEPMATH))),
}
"""Each with an excerpt of our own making of the same shape, where the folder of real files is not there."""
STAGES: list[dict[str, Any]] = [
    {
        "name": "school",
        "sources": [{"name": "gsm8k", "weight": 3.0}],
        "band": {"min_pass_rate": 0.4, "max_pass_rate": 0.6},
        "gate": {
            "type": "pass_rate",
            "when": "at_most",
            "threshold": 0.5,
            "sources": ["gsm8k"],
            "window": 1,
            "min_steps": 2,
            "max_steps": 4,
        },
    },
    {
        "name": "languages",
        "sources": [{"name": "gsm8k", "weight": 1.0}, {"name": "mgsm", "weight": 1.0}],
        "gate": {"type": "response_length", "threshold": 1.0, "window": 1, "max_steps": 3},
    },
    {
        "name": "rest",
        "sources": [{"name": "mgsm", "weight": 1.0}],
        "gate": {"type": "reward", "threshold": 2.0, "window": 1, "max_steps": 2},
    },
    {"name": "proofs", "sources": [{"name": "deepmath"}, {"name": "gsm8k"}], "gate": {"type": "steps", "steps": 1}},
    {"name": "all"},
]


def rows(name: str, count: int = 12, longest: int = 400) -> list[dict[str, Any]]:
    """The first short rows of a file, as an upload reads them."""
    path, excerpt = SHARED / FILES[name][0], FILES[name][1].encode()
    with path.open("rb") if path.exists() else io.BytesIO(excerpt) as file:
        read = [row.data for row in UploadedRows(file, path.name)]
    return [row for row in read if len(json.dumps(row["messages"])) < longest][:count]


def bundled(launcher: Any, platform: PlatformDouble, rates: list[float | None]) -> None:
    """Put the three files into the bundle; of GSM8K's rows, ``rates`` were measured."""
    found = {name: rows(name) for name in FILES}
    datasets = {f"{name}@1": platform.add_dataset(f"{name}@1", some) for name, some in found.items()}
    measured = [*rates, *[None] * (len(found["gsm8k"]) - len(rates))]
    datasets["gsm8k@1"]["difficulty"] = platform.add_difficulty("gsm8k@1", measured, samples=1000)
    launcher.platform.bundle["datasets"] = datasets


def mixed(spec: Callable[..., Any], **changes: Any) -> dict[str, Any]:
    return spec(
        data__sources=[{"name": name, "dataset": f"{name}@1"} for name in FILES],
        rollout__engine={"max_model_len": 512, "max_num_seqs": 64, "kv_cache_gib": 0.05},
        evaluation__sources=[],
        **changes,
    )


def trained(launcher: Any, platform: PlatformDouble) -> list[dict[str, float]]:
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    launcher.until_gone()
    return [event["data"]["metrics"] for event in platform.of("step")]


def drawn(metrics: dict[str, float], what: str = "data") -> dict[str, float]:
    """Groups of a step that came back, by source or by difficulty."""
    prefix = f"{what}/groups/"
    return {name.removeprefix(prefix): value for name, value in metrics.items() if name.startswith(prefix) and value}


def test_three_files_are_mixed_in_stages(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = mixed(
        spec,
        data__stages=STAGES,
        schedule={"steps": 8, "prompts_per_step": 4},
        curriculum={"type": "difficulty_band", "start_from_notes": True, "explore": 0.0, "min_pass_rate": 0.0},
    )
    warm_launcher.prepare(document)
    bundled(warm_launcher, platform, [0.0, 0.5, 1.0, 0.55, 0.45, 0.6, 0.9])
    steps = trained(warm_launcher, platform)

    assert [metrics["curriculum/stage"] for metrics in steps] == [1, 1, 2, 3, 3, 4, 5, 5]
    sources = [set(drawn(metrics)) for metrics in steps]
    assert sources[:2] == [{"gsm8k"}] * 2
    assert sources[2] <= {"gsm8k", "mgsm"} and sources[3:5] == [{"mgsm"}] * 2
    assert sources[5] <= {"gsm8k", "deepmath"}
    assert set().union(*sources) == set(FILES)
    assert all(sum(drawn(metrics).values()) == 4 for metrics in steps)
    assert drawn(steps[0], "difficulty").keys() <= {"40-60", "60-80", "untried"}
    assert steps[0]["data/all_wrong/gsm8k"] == 1.0, "a policy of arithmetic solves no word problem"

    outcomes = [(e["step"], e["data"]["prompts"]) for e in platform.of("outcomes")]
    assert [step for step, _ in outcomes] == [*range(1, 9)]
    for (_, prompts), metrics in zip(outcomes, steps, strict=True):
        assert Counter(one["prompt_id"].partition(":")[0] for one in prompts) == drawn(metrics)
        assert sum(one["reward"] for one in prompts) / 4 == pytest.approx(metrics["critic/score/mean"])

    told = [(e["step"], e["data"]) for e in platform.of("alert") if e["data"]["title"].startswith("Stage ")]
    assert [(step, data["title"], data["metric"]) for step, data in told] == [
        (1, "Stage school begins", None),
        (3, "Stage languages begins", "pass_rate"),
        (4, "Stage rest begins", "response_length"),
        (6, "Stage proofs begins", "reward"),
        (7, "Stage all begins", None),
    ]
    assert {data["level"] for _, data in told} == {"info"}
    assert told[1][1]["value"] == 0.0 and told[2][1]["value"] == steps[2]["response_length/mean"]
    assert told[1][1]["message"] == (
        "The pass rate over 1 step was 0: at most 0.5, as the gate requires. "
        "Stage 2 of 5 samples by the weights gsm8k 1, mgsm 1."
    )
    assert told[3][1]["message"].startswith("2 steps are over, the gate's maximum: the mean reward was 0, ")


def test_a_band_by_notes_without_a_column(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    curriculum = {"type": "goldilocks", "rates": "notes", "min_pass_rate": 0.2, "max_pass_rate": 0.3}
    document = mixed(spec, schedule={"steps": 1, "prompts_per_step": 4}, curriculum=curriculum)
    document["data"]["sources"] = document["data"]["sources"][:1]
    warm_launcher.prepare(document)
    count = len(rows("gsm8k"))
    bundled(warm_launcher, platform, [0.25 if row in (2, 5) else 0.9 for row in range(count)])
    [metrics] = trained(warm_launcher, platform)

    assert drawn(metrics, "difficulty") == {"20-40": 4.0}
    prompts = {row["prompt_id"] for event in platform.of("rollouts") for row in event["data"]["rows"]}
    assert prompts == {"gsm8k:2", "gsm8k:5"}


def test_notes_that_cannot_be_read_end_the_start(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    warm_launcher.prepare(mixed(spec))
    bundled(warm_launcher, platform, [0.5])
    path = platform.bundle["datasets"]["gsm8k@1"]["difficulty"]["url"]
    platform.files[path] = b"no table"
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    warm_launcher.until_gone()
    ended = platform.of("state")[-1]["data"]
    assert ended["state"] == "failed" and "The row notes 'difficulty' of gsm8k@1 cannot be read" in ended["reason"]
