"""Limits of invitations: how many e-mails a team may send, and how often their links may be tried."""

from django.http import HttpRequest

from dressage.common.api.problems import Problem
from dressage.common.secrets import secret_hash
from dressage.teams import selectors
from dressage.teams.guesses.limiter import Allowance, guess, seconds
from dressage.teams.guesses.limits import count_from_address
from dressage.teams.models import Invitation, Team

LETTERS_BURST, LETTERS_EVERY = 100, 36.0
"""Invitations of one team, including resent ones."""
TRIES_BURST, TRIES_EVERY = 20, 3.0
"""Attempts to accept one invitation: each costs a hash that is deliberately slow."""


def count_letter(team: Team) -> None:
    """Count an e-mail that a team sends. Raises a 429 problem, and then counts nothing."""
    _take(Allowance(f"invitations:{team.id}", LETTERS_BURST, LETTERS_EVERY), "Your team has sent too many invitations.")


def count_try(token: str) -> None:
    """Count an attempt to accept, by the holder of the token: only that holder waits. Raises a 429 problem."""
    _take(Allowance(f"invitation:{secret_hash(token)}", TRIES_BURST, TRIES_EVERY), "This link was tried too often.")


def looked_up(request: HttpRequest, token: str) -> Invitation:
    """The invitation of a token. A token that is not valid is counted as a guess; a valid one is never refused, since
    others behind the same address may be guessing.

    Raises:
        Problem: 404 for a token that is not valid, 429 for a network in which many were tried.
    """
    try:
        return selectors.offered_invitation(token)
    except Problem:
        count_from_address(request, "invitation")
        raise


def _take(allowance: Allowance, why: str) -> None:
    wait = guess(allowance).wait
    if wait > 0:
        detail = f"{why} Try again in {seconds(wait)} s."
        headers = {"Retry-After": str(seconds(wait))}
        raise Problem(429, "Too many requests", detail, code="throttled", headers=headers)
