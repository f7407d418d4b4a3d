"""Requests and answers of the API: problems, queries, bodies, pages, permissions, idempotency."""
