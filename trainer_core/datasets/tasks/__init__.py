"""Formats in which a task is a folder of files: how such folders are recognised, and how each becomes a row."""

from trainer_core.datasets.tasks.format import TaskFormat, UnusableTaskError
from trainer_core.datasets.tasks.harbor import HARBOR
from trainer_core.datasets.tasks.kattis import KATTIS

TASKS = (KATTIS, HARBOR)

__all__ = ["HARBOR", "KATTIS", "TASKS", "TaskFormat", "UnusableTaskError"]
