"""Clusters that ``manage.py up`` joins: what is read of them, who works for each, and refusals in words."""

import socket
from pathlib import Path

import pytest
from django.core.management import CommandError

from dressage.cluster_list import NamedCluster, read_clusters
from dressage.config import Config
from dressage.supervisor.joining import refusal_of
from dressage.supervisor.management.commands import up
from dressage.supervisor.processes import cluster_environment, services
from dressage.supervisor.ray_head import RayHead


def config(**given: str) -> Config:
    return Config.model_validate({"DRESSAGE_CLUSTER_SECRET": "a secret of forty characters that is given", **given})


def test_an_installation_that_names_none_has_one() -> None:
    assert read_clusters("", "", None) == (NamedCluster("default", "local"),)
    assert read_clusters("", "", "10.0.0.1:6379") == (NamedCluster("default", "10.0.0.1:6379"),)
    files = {"DRESSAGE_CLUSTER_TOKEN_FILES": "default=/etc/token", "RAY_ADDRESS": "10.0.0.1:6379"}
    assert config(**files).resolved_clusters == (NamedCluster("default", "10.0.0.1:6379", Path("/etc/token")),)


@pytest.mark.parametrize(
    ("text", "files", "words"),
    [
        ("Big=10.0.0.1:6379", "", "'Big' is not a cluster name"),
        ("a=local,a=10.0.0.1:1", "", "DRESSAGE_CLUSTERS names 'a' twice"),
        ("a=local,b=local", "", "only one cluster can be 'local'"),
        ("a=10.0.0.1:1", "b=/token", "names 'b', which is not one of the clusters a"),
        ("a=local", "a=/token", "'a' needs a path, and an address that is not 'local'"),
        ("a=10.0.0.1:1", "a", "'a' needs a path"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, files: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_clusters(text, files, None)


def test_each_cluster_has_a_worker_of_its_own_queue_unless_that_stands_elsewhere(tmp_path: Path) -> None:
    head = RayHead(home=tmp_path, port=1)
    token = tmp_path / "big-token"
    token.write_text("secret-of-big")
    given = config(DRESSAGE_CLUSTERS="here=local, big=10.0.0.1:6379, far", DRESSAGE_CLUSTER_TOKEN_FILES=f"big={token}")
    found = {process.name: process for process in services(given, head)}
    workers = [name for name in found if name.startswith("cluster")]
    assert workers == ["cluster-here", "cluster-big"]
    assert [found[name].command[found[name].command.index("-Q") + 1] for name in workers] == workers
    here, big = (found[name].env for name in workers)
    assert (here["RAY_ADDRESS"], here["RAY_AUTH_TOKEN_PATH"]) == ("127.0.0.1:1", str(tmp_path / "ray-token"))
    assert big == {"RAY_ADDRESS": "10.0.0.1:6379", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
    assert not any("secret-of-big" in part for process in found.values() for part in process.command)


def test_one_cluster_has_the_process_and_the_queue_of_before(tmp_path: Path) -> None:
    found = [process for process in services(config(), RayHead(home=tmp_path, port=1)) if process.name == "cluster"]
    assert [process.command[process.command.index("-Q") + 1] for process in found] == ["cluster"]
    assert cluster_environment(NamedCluster("default", "10.0.0.1:6379"), None) == {"RAY_ADDRESS": "10.0.0.1:6379"}


def test_up_refuses_a_cluster_that_cannot_be_joined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"  # nobody listens
        monkeypatch.setattr(up, "config", config(DRESSAGE_CLUSTERS=f"here=local,big={address}"))
        with pytest.raises(
            CommandError, match=f"Cluster big: The Ray cluster at {address} cannot be reached: .*refused"
        ):
            up._clusters()
    monkeypatch.setattr(up, "config", config(DRESSAGE_CLUSTERS="big=10.0.0.1:1", RAY_ADDRESS="10.0.0.1:1"))
    with pytest.raises(CommandError, match="are both set"):
        up._clusters()
    missing = NamedCluster("big", address, tmp_path / "nothing")
    assert refusal_of(missing) == f"The token of its Ray cannot be read from {tmp_path / 'nothing'}."
