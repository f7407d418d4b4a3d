"""Requests and responses of the API: problems, queries, bodies, pages, permissions, idempotency."""
