"""Values that describe no installation are refused, each with a sentence that names the field and what to do."""

import json
import re
import textwrap
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

import deploy.kubernetes
from deploy.images.lock import LockError, pin, read_lock
from deploy.kubernetes.__main__ import main
from deploy.kubernetes.chart import values_schema
from deploy.kubernetes.reading import ValuesError, parse_values
from deploy.kubernetes.render import render
from deploy.variables import ROOT, SECRETS, known_variables
from dressage.config import Config
from tests.deploy.matrix import DIGESTS, documents, images

BAD = yaml.safe_load(Path(__file__).with_name("bad_values.yaml").read_text())


def changed(case: dict[str, Any]) -> dict[str, Any]:
    """Good values with the case's changes."""
    values: dict[str, Any] = {"url": "https://dressage.example.com"}
    for path, value in case["set"].items():
        *above, last = path.split(".")
        place = values
        for name in above:
            place = place.setdefault(name, {})
        place[last] = value
    if "drop" in case:
        del values[case["drop"]]
    return values


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["says"][0][:60])
def test_bad_values_are_refused_with_a_sentence(case: dict[str, Any]) -> None:
    with pytest.raises(ValuesError) as refusal:
        parse_values(changed(case))
    (sentence,) = str(refusal.value).splitlines()
    assert all(part in sentence for part in case["says"]), sentence
    assert sentence.endswith(".") and "\n" not in sentence


def test_there_are_enough_bad_values() -> None:
    assert len(BAD) >= 25


def test_every_fault_is_told_at_once() -> None:
    with pytest.raises(ValuesError) as refusal:
        parse_values({"url": "https://a.example.com", "web": {"replicas": 0}, "nme": "a"})
    assert [line.split(":")[0] for line in str(refusal.value).splitlines()] == ["web.replicas", "nme"]


def test_no_yaml_and_no_mapping_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "values.yaml"
    for text, sentence in (("a: [", "this is not YAML"), ("- a", "one mapping of names to values")):
        file.write_text(text)
        assert main([str(file)]) == 1
        answer = capsys.readouterr()
        assert sentence in answer.err and not answer.out


def test_the_schema_takes_all_good_values_and_knows_every_field() -> None:
    schema = values_schema()
    validator = jsonschema_rs.Draft202012Validator(schema)
    assert all(validator.is_valid(document) for _, document in documents())
    assert not validator.is_valid({"url": "https://a.example.com", "nme": "a"})
    undescribed = [
        f"{kind}.{name}"
        for kind, part in schema["$defs"].items()
        for name, field in part["properties"].items()
        if name not in ("kind", "name", "key") and not {"description", "$ref"} & set(field)
    ]
    assert undescribed == []


def test_settings_are_those_that_the_platform_reads() -> None:
    assert known_variables() == {field.alias for field in Config.model_fields.values()}
    assert set(SECRETS) <= known_variables()


def test_an_image_without_a_digest_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, lock = tmp_path / "values.yaml", tmp_path / "lock.json"
    file.write_text("url: https://dressage.example.com\n")
    unpinned = {name: {"repository": image.repository, "digest": None} for name, image in read_lock().items()}
    lock.write_text(json.dumps(unpinned))
    assert main([str(file), "--lock", str(lock)]) == 1
    assert "python -m deploy.images pin" in capsys.readouterr().err
    for name, digest in DIGESTS.items():
        pin(name, digest, lock)
    assert main([str(file), "--lock", str(lock)]) == 0
    assert f"dressage/web@{DIGESTS['web']}" in capsys.readouterr().out


def test_a_lock_takes_digests_alone(tmp_path: Path) -> None:
    lock = tmp_path / "lock.json"
    lock.write_text('{"web": {"repository": "dressage/web", "digest": null}}')
    for name, digest, sentence in (
        ("web", "latest", "is not a digest"),
        ("wob", DIGESTS["web"], "is not an image of the lock"),
    ):
        with pytest.raises(LockError, match=sentence):
            pin(name, digest, lock)
    assert read_lock(lock)["web"].digest is None


def test_the_schema_file_is_that_of_the_types() -> None:
    file = Path(deploy.kubernetes.__file__).with_name("values.schema.json")
    assert json.loads(file.read_text()) == values_schema(), "run python -m deploy.kubernetes --schema > " + str(file)


def test_the_readmes_values_describe_an_installation() -> None:
    text = (ROOT / "deploy" / "README.md").read_text()
    (block,) = [block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "clusters:" in block]
    values = parse_values(yaml.safe_load(textwrap.dedent(block)))
    manifests = json.dumps(render(values, images()))
    keys = set(re.findall(r"--from-literal=([a-z_-]+)=", text))
    assert set(re.findall(r'"secretKeyRef": \{"name": "dressage", "key": "([a-z_-]+)"', manifests)) == keys
