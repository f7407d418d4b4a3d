"""Imports from a bucket with Amazon's client, against a server that speaks as the object store does."""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from dressage.common.actors import Actor
from dressage.policies.access.services import set_credentials
from dressage.policies.folders import own_root
from dressage.policies.imports.bucket import BucketSource
from dressage.policies.imports.carry_out import carry_out
from dressage.policies.imports.services import start_import
from dressage.policies.models import Policy, PolicyImport
from dressage.teams.models import Team
from tests.platform.policies.imports.conftest import write_policy
from tests.support.object_store import store

__all__ = ["store"]
KEYS = {"access_key_id": "team", "secret_access_key": "secret"}
PLACE = "s3://models/small/one"


@pytest.fixture
def client(store: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of the store, in which a policy lies at ``PLACE``."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "of-the-operator")
    settings.BUCKET_ENDPOINT = store
    settings.TEAM_POLICY_ROOT = tmp_path / "team-policies"
    client: Any = boto3.client("s3", endpoint_url=store, region_name="us-east-1")
    client.create_bucket(Bucket="models")
    for path in write_policy(tmp_path / "upstream").iterdir():
        client.put_object(Bucket="models", Key=f"small/one/{path.name}", Body=path.read_bytes())
    client.put_object(Bucket="models", Key="small/one/checkpoints/model.safetensors", Body=b"elsewhere")
    yield client
    for entry in client.list_objects_v2(Bucket="models").get("Contents", ()):
        client.delete_object(Bucket="models", Key=entry["Key"])
    client.delete_bucket(Bucket="models")


@pytest.fixture
def carried(client: Any, team: Team, actor: Actor) -> Callable[..., PolicyImport]:
    def make(location: str = PLACE) -> PolicyImport:
        row = start_import(team, actor, name="Tiny", slug=None, source="bucket", location=location)
        carry_out(row.id)
        row.refresh_from_db()
        return row

    return make


def test_a_whole_import(carried: Callable[..., PolicyImport], team: Team, actor: Actor, tmp_path: Path) -> None:
    set_credentials(team, actor, "bucket", KEYS)
    row = carried()
    assert (row.state, row.error, row.commit) == ("ready", "", "")
    policy = Policy.objects.get()
    assert policy.origin == {"source": "bucket", "location": PLACE, "revision": "", "commit": None}
    fetched = {path.name: path.read_bytes() for path in (own_root(team) / policy.id).iterdir()}
    upstream = {path.name: path.read_bytes() for path in (tmp_path / "upstream").iterdir()}
    assert set(upstream) - set(fetched) == {"modeling_own.py", "training_args.bin"}
    assert all(upstream[name] == content for name, content in fetched.items())


def test_it_goes_on_behind_what_lies_there(client: Any, team: Team, tmp_path: Path) -> None:
    bucket = BucketSource(PLACE, KEYS)
    file = bucket.described(bucket.listing().files["model-2.safetensors"])
    content = (tmp_path / "upstream" / file.name).read_bytes()
    assert file.checksum is not None
    assert (file.checksum.algorithm, file.checksum.digest) == ("md5", hashlib.md5(content).hexdigest())
    target = tmp_path / "half"
    target.write_bytes(b"x" * 1000)
    bucket.fetch(file, target, lambda: None)
    assert target.read_bytes() == b"x" * 1000 + content[1000:]


def test_a_checksum_that_the_store_keeps_is_taken(client: Any, tmp_path: Path) -> None:
    client.put_object(Bucket="models", Key="small/one/NOTICE", Body=b"hello", ChecksumAlgorithm="SHA256")
    bucket = BucketSource(PLACE, KEYS)
    file = bucket.described(bucket.listing().files["NOTICE"])
    assert file.checksum is not None
    assert (file.checksum.algorithm, file.checksum.digest) == ("sha256", hashlib.sha256(b"hello").hexdigest())


def test_an_object_that_was_replaced_meanwhile(client: Any, tmp_path: Path) -> None:
    bucket = BucketSource(PLACE, KEYS)
    file = bucket.listing().files["config.json"]
    client.put_object(Bucket="models", Key="small/one/config.json", Body=b"{}")
    with pytest.raises(ValueError, match=r"config\.json was replaced during the download\. Start a new import\."):
        bucket.fetch(file, tmp_path / "config.json", lambda: None)
    assert (tmp_path / "config.json").read_bytes() == b""


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("s3://nothing/here", "does not have the bucket 'nothing'. Check the address."),
        ("s3://models/small/two", "No object at s3://models/small/two/. Check bucket and prefix."),
        ("s3://models/small/one/checkpoints", "It has no config.json"),
    ],
)
def test_wrong_places_say_what_to_do(carried: Callable[..., PolicyImport], place: str, words: str) -> None:
    row = carried(place)
    assert row.state == "failed"
    assert words in row.error
    assert Policy.objects.count() == 0


def test_a_store_that_is_away_is_waited_for(carried: Callable[..., PolicyImport], settings: Any) -> None:
    settings.BUCKET_ENDPOINT = "http://127.0.0.1:9"
    row = carried()
    assert row.state == "queued"
    assert re.match(r"The connection to 127\.0\.0\.1:9 failed", row.error)


@pytest.mark.parametrize(("credentials", "signed"), [(None, False), (KEYS, True)])
def test_the_operators_own_keys_are_never_used(
    client: Any, credentials: dict[str, str] | None, signed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket, seen = BucketSource(PLACE, credentials), []
    bucket._client.meta.events.register("before-send.s3", lambda request, **_: seen.append(request.headers))
    bucket.listing()
    headers = [str(one.get("Authorization", "")) for one in seen]
    assert all(("Credential=team/" in header) == signed for header in headers)
    assert not any("of-the-operator" in header for header in headers)
