"""A cluster on a network that was left open: a run is refused, in words."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cases.conftest import run_once
from tests.support.nodes import Nodes
from tests.worker.loop.platform_double import PlatformDouble


def test_a_run_is_refused_by_an_open_cluster(
    folder: Path,
    platform: PlatformDouble,
    spec: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Nodes(folder, RAY_AUTH_MODE="disabled", RAY_USE_TLS="0") as nodes, nodes.connection():
        monkeypatch.setenv("RAY_AUTH_MODE", "token")  # what we would show is not what the head asks for
        run_once(nodes, platform, tmp_path, spec(schedule__steps=2, evaluation__sources=[]))
    assert platform.states() == ["starting", "failed"]
    reason = platform.of("state")[-1]["data"]["reason"]
    assert "listens on 10.77.0.1, 10.77.0.2 without authentication" in reason and "RAY_AUTH_MODE=token" in reason
