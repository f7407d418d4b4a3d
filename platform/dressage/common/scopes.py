"""Scopes of API tokens: for each noun, to read it, or to also write it."""

from collections.abc import Collection

from django.db import models


class Noun(models.TextChoices):
    """Noun of the API. Each endpoint belongs to one, or is for people only."""

    RUNS = "runs"
    DATASETS = "datasets"
    POLICIES = "policies"
    REWARDS = "rewards"
    JUDGES = "judges"
    TEAM = "team"


class Scope(models.TextChoices):
    """Scope: what a token may do, within its role. Writing includes reading."""

    RUNS_READ = "runs:read", "See runs, their metrics, rollouts, events and checkpoints; check specs and plans"
    RUNS_WRITE = "runs:write", "Also create, start, stop and steer runs"
    DATASETS_READ = "datasets:read", "See datasets and their rows"
    DATASETS_WRITE = "datasets:write", "Also upload datasets"
    POLICIES_READ = "policies:read", "See base policies"
    POLICIES_WRITE = "policies:write", "Also register base policies and create them from checkpoints"
    REWARDS_READ = "rewards:read", "See rewards, proposals and bench jobs; check graders"
    REWARDS_WRITE = "rewards:write", "Also define and test rewards, and decide on proposals"
    JUDGES_READ = "judges:read", "See judges, never their keys"
    JUDGES_WRITE = "judges:write", "Also add, change and delete judges"
    TEAM_READ = "team:read", "See the team, its members, tokens, service accounts and audit log"
    TEAM_WRITE = (
        "team:write",
        "Also remove members, withdraw invitations and revoke tokens; never invite or assign a role",
    )


def scope_for(noun: Noun, *, write: bool) -> Scope:
    """The scope that reading or writing ``noun`` needs."""
    return Scope(f"{noun.value}:{'write' if write else 'read'}")


def covers(held: Collection[str] | None, needed: Scope) -> bool:
    """Whether ``held`` includes ``needed``; None holds every scope."""
    return held is None or needed.value in held or needed.value.replace(":read", ":write") in held
