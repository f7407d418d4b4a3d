"""Files as people have them: each is read as the rows that it holds, or refused with the reason."""

from io import BytesIO

import pytest

from dressage.common.api.problems import Problem
from dressage.datasets.files.reading import UploadedRows
from tests.support.odd_values import odd_files
from tests.support.peoples_files import PeoplesFile, peoples_files

FILES = [*peoples_files(), *odd_files()]
GROUPS = sorted({file.group for file in FILES})


def test_there_are_many_and_each_has_a_name_of_its_own() -> None:
    assert len(FILES) >= 700
    assert len({file.what for file in FILES}) == len(FILES)


@pytest.mark.parametrize("group", GROUPS)
def test_files_of_people(group: str) -> None:
    """Rows one by one, and in blocks: the same rows, warnings or refusal."""
    for file in FILES:
        if file.group == group:
            check(file)


def check(file: PeoplesFile) -> None:
    rows = UploadedRows(BytesIO(file.content), file.name)
    found = [row.data for row in rows]
    blocks = UploadedRows(BytesIO(file.content), file.name)
    list(blocks.parts())
    if file.refused:
        for one in (rows, blocks):
            with pytest.raises(Problem) as caught:
                one.raise_errors()
            assert file.refused in caught.value.errors[0]["detail"], file.what
        return
    for one in (rows, blocks):
        one.raise_errors()
        assert tuple(warning["code"] for warning in one.findings.warnings()) == file.warnings, file.what
        assert one.rows == len(file.rows), file.what
    assert found == file.rows, file.what
    assert [[*map(type, row.values())] for row in found] == [[*map(type, row.values())] for row in file.rows], file.what
