"""Parts that every app shares: ids, problems, paging, roles, permissions, idempotency, schema helpers."""
