"""The hash chain of the audit log: changing, removing or swapping a row breaks it."""

import hashlib
import json
from datetime import UTC
from typing import Any

from dressage.teams.models import AuditEntry

_FIELDS = (
    "id", "team_id", "number", "actor_kind", "actor_id", "actor_name", "action", "target_type", "target_id",
    "before_json", "after_json", "reason", "previous_hash",
)  # fmt: skip


def entry_facts(entry: AuditEntry) -> dict[str, Any]:
    """Everything that the hash of an entry covers: what was done, its time and the hash of the previous entry."""
    facts = {name: getattr(entry, name) for name in _FIELDS}
    facts["created_at"] = entry.created_at.astimezone(UTC).isoformat(timespec="microseconds")
    return facts


def entry_hash(entry: AuditEntry) -> str:
    """SHA-256 over the entry's facts."""
    return hashlib.sha256(json.dumps(entry_facts(entry), sort_keys=True, separators=(",", ":")).encode()).hexdigest()
