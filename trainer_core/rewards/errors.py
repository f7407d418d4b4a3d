"""Errors of graders."""


class GraderError(Exception):
    """A reward that cannot be computed, through no merit or fault of the policy. The message says why."""
