"""How long browsers may keep the console's files."""

from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.support.about import PLATFORM

FOR_GOOD = "max-age=315360000, public, immutable"


@pytest.fixture
def dist(settings: Any, tmp_path: Path) -> Path:
    for name in ("assets/index-a_c-ef12.js", "assets/plain.js", "favicon.svg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    settings.WHITENOISE_ROOT = tmp_path
    return tmp_path


@pytest.mark.usefixtures("dist")
def test_files_named_by_their_content_are_kept_for_good() -> None:
    assert APIClient().get("/assets/index-a_c-ef12.js")["Cache-Control"] == FOR_GOOD


@pytest.mark.usefixtures("dist")
@pytest.mark.parametrize("address", ["/assets/plain.js", "/favicon.svg"])
def test_files_whose_content_may_change_are_asked_for_again(address: str) -> None:
    assert APIClient().get(address)["Cache-Control"] == "max-age=60, public"


@pytest.mark.expensive(2, "reads the built console", about=("frontend", *PLATFORM))
def test_the_build_gives_all_its_files_such_names() -> None:
    from django.conf import settings

    assets = settings.FRONTEND_DIST / "assets"
    names = [path.name for path in assets.iterdir() if path.suffix not in (".gz", ".br")]
    assert names
    kept = {name: APIClient().get(f"/assets/{name}")["Cache-Control"] for name in names}
    assert set(kept.values()) == {FOR_GOOD}, {name: value for name, value in kept.items() if value != FOR_GOOD}
