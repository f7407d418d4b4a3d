"""The page about security: what it names exists."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from dressage.config import Config
from dressage.datasets.limits import MAX_UPLOAD_BYTES
from tests.support.guide import ROOT

DOCS = ROOT / "docs"
PAGES = [DOCS / "security.md", DOCS / "security-asvs.md", ROOT / "SECURITY.md"]
OF_WORKERS = {"DRESSAGE_CLUSTER_SECRET_FILE", "GATEWAY_HOST", "GATEWAY_PORTS"}
"""Variables that workers read, and no Config."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_variable_counts_and_is_documented(page: Path) -> None:
    ours = {str(field.alias) for field in Config.model_fields.values()} | OF_WORKERS
    documented = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", (DOCS / "configuration.md").read_text()))
    assert ours - OF_WORKERS <= documented
    named = set(re.findall(r"`((?:[A-Z]+_)+[A-Z]+)(?:=[^`]*)?`", page.read_text()))
    assert named <= ours & documented, named - (ours & documented)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_there(page: Path) -> None:
    named = set(re.findall(r"manage\.py (\w+)", page.read_text()))
    assert named <= set(get_commands()), named - set(get_commands())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for file, anchor in re.findall(r"\]\((?!https?:)([\w./-]*)(?:#([\w-]+))?\)", page.read_text()):
        target = page.parent / file if file else page
        assert target.exists(), file
        if anchor:
            headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
            assert anchor in {heading.lower().replace(" ", "-") for heading in headings}, f"{file}#{anchor}"


def test_proxies_let_through_what_the_platform_takes() -> None:
    text = PAGES[0].read_text()
    assert f"client_max_body_size {MAX_UPLOAD_BYTES >> 20}m;" in text
    assert f"max_size {MAX_UPLOAD_BYTES >> 20}MiB" in text
    assert text.count("127.0.0.1:8600") == 2 and Config.model_fields["port"].default == 8600
