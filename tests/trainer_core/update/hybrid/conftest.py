"""One tiny hybrid policy for the tests of this folder."""

from pathlib import Path

import pytest

from tests.trainer_core.update.hybrid.hybrids import make_hybrid


@pytest.fixture(scope="session")
def hybrid_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder."""
    folder = tmp_path_factory.mktemp("hybrid")
    make_hybrid(folder)
    return folder
