"""Graders that run code: programs and their tests, and functions of the team."""
