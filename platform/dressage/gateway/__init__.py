"""Checks in front of Django and the streams: they refuse by headers alone, before anything is read or opened."""
