"""How the local Ray head is started."""

from pathlib import Path

from dressage.supervisor.ray_head import RayHead


def test_nothing_is_served_without_the_token(tmp_path: Path) -> None:
    """The monitor answers any local user at a fixed port, and the dashboard too."""
    command = RayHead(home=tmp_path, port=1).command
    assert {"--no-monitor", "--include-dashboard=false", "--node-ip-address=127.0.0.1"} <= set(command)
