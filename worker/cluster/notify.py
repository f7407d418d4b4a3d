"""Warnings to the user who watches a run."""

from __future__ import annotations

from collections.abc import Callable

Notify = Callable[[str, str], None]
"""(title, message): a warning to the user who watches the run."""
