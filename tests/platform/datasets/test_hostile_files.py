"""Hostile files: each is accepted, accepted with warnings, or refused, with exactly the words that were decided."""

from io import BytesIO

import pytest

from dressage.common.api.problems import Problem
from dressage.datasets.files.reading import UploadedRows
from tests.support.hostile_files import Hostile, hostile_files

FILES = hostile_files()


def test_there_are_many_and_each_has_a_name_of_its_own() -> None:
    assert len(FILES) >= 200
    assert len({file.what for file in FILES}) == len(FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.what)
def test_a_hostile_file(file: Hostile) -> None:
    reader = UploadedRows(BytesIO(file.content), file.name)
    rows = 0
    for _ in reader:
        rows += 1
    if file.place is None:
        reader.raise_errors()
        assert (rows, tuple(warning["code"] for warning in reader.findings.warnings())) == (file.rows, file.warnings)
        return
    with pytest.raises(Problem) as caught:
        reader.raise_errors()
    first = caught.value.errors[0]
    assert (first["pointer"], len(reader.errors)) == (file.place, file.faults), first["detail"]
    assert file.words in first["detail"]
    assert caught.value.detail.endswith("Nothing was stored.")
