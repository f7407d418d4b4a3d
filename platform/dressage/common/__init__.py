"""Parts that every app shares: ids, problems, paging, roles, authentication, idempotency, schema helpers."""
