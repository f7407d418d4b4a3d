"""A spec that cannot learn from its rows is refused before a run exists, with the change that mends it."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.services import create_dataset
from dressage.policies.models import Policy
from dressage.policies.selectors import policy_by_name
from dressage.runs.needs import data_fit
from dressage.teams.models import Team
from tests.platform.runs.test_data_fit import with_changes
from trainer_core.spec import RunSpec
from trainer_core.starter.tokenizer import build_tokenizer

Check = Callable[[dict[str, Any]], list[FieldError]]
Row = dict[str, Any]
CHAT = [{"role": "user", "content": "1+1="}]


@pytest.fixture
def check(team: Team, nouns: Path) -> Check:
    """The faults of a spec's rows, for a policy with one token per character."""
    build_tokenizer(1024).save_pretrained(str(nouns))

    def faults(document: dict[str, Any]) -> list[FieldError]:
        spec = RunSpec.model_validate(document)
        refs = [source.dataset for source in (*spec.data.sources, *spec.evaluation.sources)]
        versions = {ref: version_by_ref(team, ref) for ref in refs}
        return data_fit.length_faults(spec, policy_by_name(team, "small"), versions)

    return faults


@pytest.fixture
def upload(team: Team, actor: Actor, nouns: Path) -> Callable[..., str]:
    def make(name: str, *rows: Row) -> str:
        lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        create_dataset(team, actor, name=name, file=BytesIO(lines), size=len(lines))
        return f"{name}@1"

    return make


def on(*refs: str, **objective: Any) -> dict[str, Any]:
    sources = [{"name": f"rows{number}", "dataset": ref} for number, ref in enumerate(refs)]
    document: dict[str, Any] = {
        "policy": {"base": "small"},
        "data": {"sources": sources},
        "objective": {"type": "sft", **objective},
        "parallelism": {"max_tokens_per_microbatch": 4096},
    }
    return document


@pytest.mark.parametrize(
    ("rows", "objective", "mend"),
    [
        ([{"messages": CHAT, "reference": "2", "note": 1}], {}, {"completion": "reference"}),
        ([{"prompt": "1+1=", "answer": "2", "output": "So 2."}], {}, {"completion": "output"}),
        ([{"prompt": "1+1=", "answer": 2}], {}, {"learn": "all"}),
        ([{"messages": CHAT, "answer": 2}], {}, None),
        ([{"messages": CHAT, "completion": "2"}], {"completion": "target"}, {"completion": "completion"}),
        ([{"messages": CHAT, "reference": "2"}], {"learn": "all"}, {"completion": "reference"}),
        ([{"prompt": "1+1=", "completion": "2"}], {"type": "preference"}, None),
        (
            [{"prompt": "1", "better": "2", "worse": "3"}],
            {"type": "preference"},
            {"chosen": "better", "rejected": "worse"},
        ),
    ],
)
def test_a_missing_column_is_refused_with_the_one_that_the_rows_have(
    check: Check, upload: Callable[..., str], rows: list[Row], objective: Row, mend: Row | None
) -> None:
    spec = on(upload("rows", *rows), **objective)
    [error] = check(spec)
    assert error["pointer"] == "/spec/data/sources/0/dataset"
    assert (
        error["detail"].startswith("The objective reads '")
        and f"and the rows have {', '.join(rows[0])}." in error["detail"]
    )
    if mend is None:
        assert "mend" not in error
        return
    changes = {change["pointer"]: change["value"] for change in error["mend"]["changes"]}
    assert changes == {f"/spec/objective/{name}": value for name, value in mend.items()}
    assert check(with_changes(spec, [*error["mend"]["changes"]])) == []


def test_a_mend_serves_all_datasets_or_is_not_offered(check: Check, upload: Callable[..., str]) -> None:
    one = upload("one", {"prompt": "1", "output": "2", "response": "3"})
    other = upload("other", {"messages": CHAT, "response": "3"})
    third = upload("third", {"messages": CHAT, "said": "3"})
    spec = on(one, other)
    assert [error["mend"]["label"] for error in check(spec)] == ["Learn the column response"] * 2
    assert all("mend" not in error for error in check(on(one, third)))


def test_rows_that_fit(check: Check, upload: Callable[..., str]) -> None:
    assert check(on(upload("chats", {"messages": CHAT, "completion": ""}, {"messages": CHAT, "completion": "2"}))) == []
    assert check(on(upload("texts", {"prompt": "1+1=2", "answer": "x"}), learn="all")) == []
    mixed = upload("mixed", {"prompt": "1+1=2"}, {"prompt": "1+1=", "completion": "2"})
    assert check(on(mixed, learn="all")) == []
    [error] = check(on(mixed))
    assert error["detail"].startswith("Row 0 of mixed@1 cannot be learned. It has no `completion`")


def test_a_row_that_no_objective_can_learn_is_named(check: Check, upload: Callable[..., str]) -> None:
    rows: list[Row] = [{"prompt": "1", "completion": "2"} for _ in range(300)]
    rows[120]["completion"] = ["2"]
    [error] = check(on(upload("odd", *rows)))
    assert error == {
        "pointer": "/spec/data/sources/0/dataset",
        "detail": "Row 120 of odd@1 cannot be learned. `completion` must be text, not list.",
    }


@pytest.mark.parametrize(("length", "fits"), [(54, True), (55, False)])
def test_a_long_row_is_refused_with_the_length_that_holds_it(
    check: Check, upload: Callable[..., str], team: Team, length: int, fits: bool
) -> None:
    Policy.objects.filter(team=team, slug="small").update(max_position_embeddings=1024)
    ref = upload("long", {"prompt": "1", "completion": "1"}, {"prompt": "1" * 10, "completion": "1" * length})
    spec = on(ref, max_tokens=64)
    if fits:
        assert check(spec) == []
        return
    assert check(spec) == [
        {
            "pointer": "/spec/data/sources/0/dataset",
            "detail": "Row 1 of long@1 has at least 65 tokens with its completion, and objective.max_tokens is 64.",
            "mend": {
                "label": "Set objective.max_tokens to 128",
                "changes": [{"pointer": "/spec/objective/max_tokens", "value": 128}],
            },
        }
    ]
    for overlong in ("drop", "cut", "split"):
        assert check(on(ref, max_tokens=64, overlong=overlong)) == []


def test_a_pair_needs_room_for_both_completions(check: Check, upload: Callable[..., str], team: Team) -> None:
    Policy.objects.filter(team=team, slug="small").update(max_position_embeddings=1024)
    ref = upload("pairs", {"prompt": "1", "chosen": "1", "rejected": "1" * 100})
    spec = on(ref, type="preference", max_tokens=64)
    spec["parallelism"]["max_tokens_per_microbatch"] = 128
    [error] = check(spec)
    assert "at least 101 tokens" in error["detail"]
    assert error["mend"]["label"] == "Set objective.max_tokens to 128, and max_tokens_per_microbatch to 256"
    assert check(with_changes(spec, [*error["mend"]["changes"]])) == []


def test_longer_rows_than_the_policy_has_positions_for_are_left_out(
    check: Check, upload: Callable[..., str], team: Team
) -> None:
    Policy.objects.filter(team=team, slug="small").update(max_position_embeddings=64)
    ref = upload("long", {"prompt": "1", "completion": "1"}, {"prompt": "1", "completion": "1" * 80})
    spec = on(ref, max_tokens=64)
    [error] = check(spec)
    assert error["mend"] == {
        "label": "Leave out longer rows",
        "changes": [{"pointer": "/spec/objective/overlong", "value": "drop"}],
    }
    assert check(with_changes(spec, [*error["mend"]["changes"]])) == []


def test_held_out_rows_are_checked_too(check: Check, upload: Callable[..., str]) -> None:
    spec = on(upload("rows", {"prompt": "1", "completion": "2"}))
    spec["evaluation"] = {"sources": [{"name": "held", "dataset": upload("held", {"prompt": "1", "answer": "2"})}]}
    [error] = check(spec)
    assert error["pointer"] == "/spec/evaluation/sources/0/dataset"
