"""A spec that cannot train on its rows is refused before a run exists, with the change that mends it."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from dressage.common.actors import Actor
from dressage.datasets.services import create_dataset
from dressage.policies.models import Policy
from dressage.rewards.services import create_reward
from dressage.runs.models import Run
from dressage.teams.models import Team
from tests.platform.runs.fixtures import spec_document
from trainer_core.rewards import RewardDefinition
from trainer_core.starter.tokenizer import build_tokenizer

Api = Callable[..., APIClient]
Upload = Callable[..., None]


@pytest.fixture
def characters(nouns: Path) -> Path:
    """The policy's folder, with a tokenizer that has one token per character."""
    build_tokenizer(1024).save_pretrained(str(nouns))
    return nouns


@pytest.fixture
def upload(team: Team, actor: Actor, nouns: Path) -> Upload:
    def make(name: str, *rows: dict[str, Any]) -> None:
        lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        create_dataset(team, actor, name=name, file=BytesIO(lines), size=len(lines))

    return make


def positions(team: Team, most: int) -> None:
    Policy.objects.filter(team=team, slug="small").update(max_position_embeddings=most)


def on(ref: str, **parts: Any) -> dict[str, Any]:
    """A spec that trains on one dataset."""
    return spec_document(data={"sources": [{"name": "rows", "dataset": ref, **parts.pop("source", {})}]}, **parts)


def checked(api: Api, spec: dict[str, Any]) -> list[dict[str, Any]]:
    answer = api("operator").post("/api/v1/spec/validate", {"spec": spec}, format="json").json()
    assert answer["valid"] is (answer["errors"] == [])
    errors: list[dict[str, Any]] = answer["errors"]
    return errors


def with_changes(spec: dict[str, Any], changes: list[dict[str, Any]]) -> dict[str, Any]:
    for change in changes:
        *path, name = change["pointer"].removeprefix("/spec/").split("/")
        node = spec
        for step in path:
            node = node.setdefault(step, {})
        node[name] = change["value"]
    return spec


@pytest.mark.parametrize(("length", "fits"), [(64, True), (65, False), (155, False)])
def test_a_prompt_without_room_for_a_completion_is_refused_with_the_length_that_holds_it(
    api: Api, characters: Path, upload: Upload, team: Team, length: int, fits: bool
) -> None:
    """max_tokens 32 of max_model_len 96 leave 64."""
    positions(team, 1024)
    upload("Long", {"prompt": "1", "answer": "1"}, {"prompt": "1" * length, "answer": "1"})
    spec = on("long@1")
    errors = checked(api, spec)
    if fits:
        assert errors == []
        return
    [error] = errors
    assert error["pointer"] == "/spec/data/sources/0/dataset"
    assert error["detail"] == (
        f"Row 1 of long@1 has a prompt of at least {length} tokens. With max_tokens 32 and max_model_len 96, a prompt "
        "may have 64."
    )
    size = 128 if length == 65 else 256
    change = {"pointer": "/spec/rollout/engine/max_model_len", "value": size}
    assert error["mend"] == {"label": f"Set max_model_len to {size}", "changes": [change]}
    answer = api("operator").post("/api/v1/runs", {"name": "n", "spec": spec, "start": False}, format="json")
    assert (answer.status_code, answer.json()["errors"]) == (422, [error])
    assert not Run.objects.exists()
    assert checked(api, with_changes(spec, error["mend"]["changes"])) == []


def test_the_mend_makes_room_in_a_microbatch_too(api: Api, characters: Path, upload: Upload, team: Team) -> None:
    positions(team, 1024)
    upload("Long", {"prompt": "1" * 155, "answer": "1"})
    spec = on("long@1", parallelism={"max_tokens_per_microbatch": 100})
    [error] = checked(api, spec)
    assert error["mend"]["label"] == "Set max_model_len to 256, and max_tokens_per_microbatch to 256"
    assert checked(api, with_changes(spec, error["mend"]["changes"])) == []


@pytest.mark.parametrize(("most", "mend"), [(200, 200), (187, 187), (186, None)])
def test_the_mend_stays_within_the_policys_positions(
    api: Api, characters: Path, upload: Upload, team: Team, most: int, mend: int | None
) -> None:
    positions(team, most)
    upload("Long", {"prompt": "1" * 155, "answer": "1"})
    [error] = checked(api, on("long@1"))
    if mend is None:
        assert "mend" not in error
    else:
        assert error["mend"]["changes"] == [{"pointer": "/spec/rollout/engine/max_model_len", "value": mend}]


def test_a_suffix_and_the_last_message_count_and_what_a_template_may_drop_does_not(
    api: Api, characters: Path, upload: Upload
) -> None:
    upload("Plain", {"prompt": "1" * 60, "answer": "1"})
    assert checked(api, on("plain@1", source={"format": {"suffix": "=?!="}})) == []
    [error] = checked(api, on("plain@1", source={"format": {"suffix": "=?!=="}}))
    assert "at least 65 tokens" in error["detail"]
    said = [{"role": "system", "content": "1" * 90}, {"role": "assistant", "content": "1" * 90}]
    upload("Chat", {"messages": [*said, {"role": "user", "content": f" {'1' * 64} "}], "answer": "1"})
    assert checked(api, on("chat@1")) == []
    upload("Longer", {"messages": [*said, {"role": "user", "content": "1" * 65}], "answer": "1"})
    [error] = checked(api, on("longer@1"))
    assert error["detail"].startswith("Row 0 of longer@1 has a prompt of at least 65 tokens.")


def test_held_out_rows_are_measured_too(api: Api, characters: Path, upload: Upload) -> None:
    upload("Long", {"prompt": "1" * 65, "answer": "1"})
    [error] = checked(api, spec_document(evaluation={"sources": [{"name": "held", "dataset": "long@1"}]}))
    assert error["pointer"] == "/spec/evaluation/sources/0/dataset"


def test_rows_deep_in_a_file_are_measured(api: Api, characters: Path, upload: Upload) -> None:
    upload("Many", *({"prompt": "1" * (70 if row == 1510 else 3), "answer": "1"} for row in range(2000)))
    [error] = checked(api, on("many@1"))
    assert error["detail"].startswith("Row 1510 of many@1")


@pytest.mark.parametrize("text", ["", "{}", "not json"])
def test_a_policy_whose_tokenizer_cannot_be_read_is_left_to_its_start(
    api: Api, nouns: Path, upload: Upload, text: str
) -> None:
    (nouns / "tokenizer.json").write_text(text)
    upload("Long", {"prompt": "1" * 155, "answer": "1"})
    assert checked(api, on("long@1")) == []


@pytest.mark.parametrize(
    ("grader", "missing"),
    [
        ({"type": "code_tests"}, ["tests"]),
        ({"type": "code_tests", "tests": "prompt"}, []),
        ({"type": "exact"}, []),
        ({"type": "math", "reference": "gold"}, ["gold"]),
        ({"type": "ifeval"}, ["instruction_id_list", "kwargs"]),
        ({"type": "string_check", "reference": "{{ item.gold.text }}"}, ["gold"]),
        ({"type": "string_check", "reference": "{{item.prompt}}{{item.answer}}{{sample.output_text}}"}, []),
        ({"type": "multi", "graders": {"x": {"type": "exact"}, "y": {"type": "choice", "reference": "letter"}},
          "calculate_output": "x + y"}, ["letter"]),
        ({"type": "regex", "pattern": "1"}, []),
    ],
)  # fmt: skip
def test_a_reward_that_reads_a_column_that_no_row_has_is_refused(
    api: Api, nouns: Path, upload: Upload, team: Team, actor: Actor, grader: dict[str, Any], missing: list[str]
) -> None:
    upload("Plain", {"prompt": "1+1=", "answer": "2"})
    definition = {"components": [{"name": "part", "grader": grader}]}
    create_reward(team, actor, name="Graded", definition=RewardDefinition.model_validate(definition))
    errors = checked(api, on("plain@1", reward={"definition": "graded@1"}))
    assert [error["pointer"] for error in errors] == ["/spec/data/sources/0/dataset"] * len(missing)
    for error, column in zip(errors, missing, strict=True):
        assert error["detail"].startswith(
            f"The reward graded@1 cannot grade rows of plain@1: its part 'part' reads the column {column!r}, and the "
            "rows have prompt, answer."
        )


def test_a_part_for_some_rows_alone_needs_no_column(
    api: Api, nouns: Path, upload: Upload, team: Team, actor: Actor
) -> None:
    upload("Plain", {"prompt": "1+1=", "answer": "2"})
    parts = [
        {"name": "any", "grader": {"type": "exact"}},
        {"name": "code", "row_field": "tests", "grader": {"type": "code_tests"}},
    ]
    create_reward(team, actor, name="Two", definition=RewardDefinition.model_validate({"components": parts}))
    assert checked(api, on("plain@1", reward={"definition": "two@1"})) == []


def test_a_run_that_has_begun_is_not_measured_again(
    launch: Callable[..., Any], characters: Path, upload: Upload, api: Api
) -> None:
    """As after an upgrade: a run of before is resumed, whatever its rows are."""
    run, worker = launch()
    worker.step(1)
    worker.checkpoint(1)
    worker.state("failed", "x")
    upload("Long", {"prompt": "1" * 155, "answer": "1"})
    Run.objects.filter(id=run.id).update(spec=on("long@1"), effective_spec=on("long@1"))
    assert api("operator").post(f"/api/v1/runs/{run.id}/resume").status_code == 202
