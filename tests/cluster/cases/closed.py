"""A cluster on a network that is closed by certificates."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cluster.cases.conftest import run_once
from tests.support.nodes import Nodes
from tests.worker.loop.platform_double import PlatformDouble

CERTIFICATE = """
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.crt -subj /CN=nodes-ca
openssl req -newkey rsa:2048 -nodes -keyout node.key -out node.csr -subj /CN=node
printf 'subjectAltName=DNS:localhost,IP:127.0.0.1%s' "$(seq -f ,IP:10.77.0.%g -s '' 1 9)" > names
openssl x509 -req -in node.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out node.crt -extfile names
"""


def test_a_run_trains_where_every_process_shows_a_certificate(
    folder: Path, platform: PlatformDouble, spec: Callable[..., Any], tmp_path: Path
) -> None:
    subprocess.run(["sh", "-ec", CERTIFICATE], cwd=folder, check=True, capture_output=True)
    tls = {
        "RAY_AUTH_MODE": "disabled",
        "RAY_USE_TLS": "1",
        "RAY_TLS_SERVER_CERT": str(folder / "node.crt"),
        "RAY_TLS_SERVER_KEY": str(folder / "node.key"),
        "RAY_TLS_CA_CERT": str(folder / "ca.crt"),
    }
    with Nodes(folder, **tls) as nodes, nodes.connection():
        run_once(nodes, platform, tmp_path, spec(schedule__steps=2, evaluation__sources=[]))
    assert platform.states() == ["starting", "running", "succeeded"], platform.describe()
