"""Weights through a bucket, against a server that speaks as the object store does."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from tests.support.about import TRAINING
from tests.support.installation import free_port, wait_until
from tests.worker.learner.travelling import expected, fingerprint, layers
from worker.errors import StartError
from worker.learner.transport.choice import Travel, choose
from worker.learner.transport.files import MANIFEST, Files
from worker.learner.transport.topology import Topology

LOCATION = "s3://weights/of/runs"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    # In a process of its own: it brings Flask, over whose proxies an engine's start in this one would stumble.
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: _answers(port), 60, lambda: "the store does not answer")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def client(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client of the store, in which the bucket ``weights`` is."""
    for name, value in (("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b"), ("ENDPOINT_URL", server)):
        monkeypatch.setenv(f"AWS_{name}", value)
    found: Any = boto3.client("s3", endpoint_url=server, region_name="us-east-1")
    found.create_bucket(Bucket="weights")
    return found


def keys(client: Any) -> list[str]:
    return [entry["Key"] for entry in client.list_objects_v2(Bucket="weights").get("Contents", ())]


@pytest.mark.expensive(3, "starts a learner", about=TRAINING)
def test_versions_come_and_go_in_a_bucket(client: Any) -> None:
    topology = Topology(hosts=2, location=LOCATION, folder="run-1")
    assert choose(Travel("files", topology)).name == "files"
    assert keys(client) == [], "to ask leaves nothing"
    sender = Files().sender(topology)
    first, second = (sender.pack(version, layers(version)) for version in (1, 2))
    assert fingerprint(Files().unpack(first)) == expected(1) == fingerprint(sender.unpack(first))
    sender.keep([second])
    assert {key.split("/")[3] for key in keys(client)} == {second.version}
    with pytest.raises(RuntimeError, match=r"cannot be read from s3://weights/of/runs/run-1: .* answers NoSuchKey"):
        Files().unpack(first)
    spoilt = f"of/runs/run-1/{second.version}/00000.safetensors"
    content = client.get_object(Bucket="weights", Key=spoilt)["Body"].read()
    client.put_object(Bucket="weights", Key=spoilt, Body=content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(RuntimeError, match=r"differ from those sent: 00000\.safetensors differs"):
        Files().unpack(second)
    client.delete_object(Bucket="weights", Key=f"of/runs/run-1/{second.version}/{MANIFEST}")
    with pytest.raises(RuntimeError, match="answers NoSuchKey"):
        Files().unpack(second)
    sender.clean(topology)
    assert keys(client) == []
    sender.close()


def test_a_bucket_that_cannot_be_written_is_refused_before_the_run_starts(client: Any) -> None:
    topology = Topology(location="s3://nothing/here", folder="run-1")
    with pytest.raises(StartError, match=r"cannot be written to s3://nothing/here/run-1: .* answers NoSuchBucket"):
        choose(Travel("files", topology))
