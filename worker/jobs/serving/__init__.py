"""Serves models to the platform's users, as long as there are requests."""
