"""The sentences that peers of different versions of the link are answered with."""

import pytest

from trainer_core.link import version

GARBLED = "that is not a version. Check for a proxy between cluster and platform that changes headers."


@pytest.mark.parametrize("told", [None, "1"])
def test_version_1_fits_whether_it_is_named_or_not(told: str | None) -> None:
    assert version.objection_to_worker(told) is None
    assert version.objection_to_platform(told) is None


@pytest.mark.parametrize("told", ["", "0", "-1", "01", "1.0", "v1", "1 ", "١", "1" * 10, "x" * 100])
def test_what_is_no_version_is_quoted(told: str) -> None:
    quoted = repr(told[:40])
    assert version.objection_to_worker(told) == (f"The cluster's worker sent {quoted} as its link version: {GARBLED}")
    assert version.objection_to_platform(told) == (f"The platform sent {quoted} as its link version: {GARBLED}")


def test_the_older_side_is_told_to_be_upgraded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "LINK_VERSION", 2)
    monkeypatch.setattr(version, "SPOKEN", frozenset({2}))
    old_worker = "This cluster runs Dressage's link version 1, the platform runs 2: upgrade the cluster's workers."
    assert version.objection_to_worker(None) == version.objection_to_worker("1") == old_worker
    new_worker = "This cluster runs Dressage's link version 3, the platform runs 2: upgrade the platform."
    assert version.objection_to_worker("3") == new_worker
    old_platform = "This cluster runs Dressage's link version 2, the platform runs 1: upgrade the platform."
    assert version.objection_to_platform(None) == version.objection_to_platform("1") == old_platform
    new_platform = "This cluster runs Dressage's link version 2, the platform runs 3: upgrade the cluster's workers."
    assert version.objection_to_platform("3") == new_platform
    assert version.objection_to_worker("2") is version.objection_to_platform("2") is None


def test_a_side_may_speak_more_than_it_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "LINK_VERSION", 2)
    monkeypatch.setattr(version, "SPOKEN", frozenset({1, 2}))
    assert version.objection_to_worker(None) is version.objection_to_worker("2") is None
    assert version.header() == {"Dressage-Link-Version": "2"}
