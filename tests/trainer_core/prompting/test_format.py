"""A source's format makes of a row what the policy is asked; the row itself stays as it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import document
from trainer_core.prompting.format import evaluation_format, present, training_format
from trainer_core.prompting.template import read_template, template_sha256
from trainer_core.spec import RunSpec
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat

USER = {"role": "user", "content": "1+1="}
SYSTEM = {"role": "system", "content": "Be brief."}
BOX = {"role": "user", "content": "1+1= Box it."}


@pytest.mark.parametrize(
    ("row", "form", "expected"),
    [
        ({"prompt": "1+1=", "answer": "2"}, {}, {"prompt": "1+1=", "answer": "2"}),
        ({"prompt": "1+1="}, {"suffix": " Box it."}, {"prompt": "1+1= Box it."}),
        ({"prompt": "1+1="}, {"chat": True}, {"prompt": "1+1=", "messages": [USER]}),
        (
            {"prompt": "1+1="},
            {"chat": True, "system": "Be brief.", "suffix": " Box it."},
            {"prompt": "1+1=", "messages": [SYSTEM, BOX]},
        ),
        ({"messages": [USER]}, {"chat": True, "system": "Be brief."}, {"messages": [SYSTEM, USER]}),
        ({"messages": [SYSTEM, USER]}, {"chat": True, "system": "Be long."}, {"messages": [SYSTEM, USER]}),
        ({"messages": [USER]}, {"suffix": " Box it."}, {"messages": [BOX]}),
    ],
)
def test_rows_as_they_are_asked(row: dict[str, Any], form: dict[str, Any], expected: dict[str, Any]) -> None:
    before = json.dumps(row)
    assert present(row, PromptFormat.model_validate(form)) == expected
    assert json.dumps(row) == before


def test_a_system_message_needs_a_chat() -> None:
    with pytest.raises(ValidationError, match="set chat to true"):
        PromptFormat(system="Be brief.")


def test_a_held_out_source_is_asked_like_the_first_that_is_trained_on() -> None:
    spec = document()
    spec["data"]["sources"][0]["format"] = {"chat": True}
    name = spec["data"]["sources"][0]["name"]
    spec["evaluation"] = {"sources": [{"name": "a", "dataset": "a@1"}, {"name": "b", "dataset": "b@1", "format": {}}]}
    run = RunSpec.model_validate(spec)
    assert training_format(run, name) == evaluation_format(run, "a") == PromptFormat(chat=True)
    assert evaluation_format(run, "b") == PLAIN


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, None),
        ({"tokenizer_config.json": "{}"}, None),
        ({"tokenizer_config.json": '{"chat_template": "T"}'}, "T"),
        ({"tokenizer_config.json": '{"chat_template": "old"}', "chat_template.jinja": "new"}, "new"),
        (
            {
                "tokenizer_config.json": '{"chat_template": [{"name": "tool", "template": "a"}, '
                '{"name": "default", "template": "b"}]}'
            },
            "b",
        ),
        ({"tokenizer_config.json": '{"chat_template": [{"name": "tool", "template": "a"}]}'}, None),
    ],
)
def test_the_template_of_a_folder(tmp_path: Path, files: dict[str, str], expected: str | None) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert read_template(tmp_path) == expected


def test_the_hash_is_that_of_the_text() -> None:
    assert template_sha256("T") == "e632b7095b0bf32c260fa4c539e9fd7b852d0de454e9be26f24d0d6f91d069d3"
