"""The file by which a Celery worker shows that its loop turns, for those who restart what hangs."""

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "DRESSAGE_HEARTBEAT_FILE"
"""Variable that names the file. Without it nothing is written."""


def show_alive(**_: object) -> None:
    """Touch the file; a receiver of Celery's signal ``heartbeat_sent``.

    Raises:
        OSError: the file cannot be written; Celery logs what receivers raise and goes on.
    """
    if name := os.environ.get(VARIABLE):
        Path(name).touch()
