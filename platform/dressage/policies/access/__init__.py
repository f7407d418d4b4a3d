"""Credentials of teams for the places from which policies are imported."""
