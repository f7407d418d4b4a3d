"""The limits: which line a guess belongs to, and how long each may be."""

import hashlib
from dataclasses import dataclass

from django.http import HttpRequest

from dressage.common.api.client_address import client_address, network_of
from dressage.common.api.problems import Problem
from dressage.teams.guesses.devices import known_device
from dressage.teams.guesses.limiter import Allowance, Gate, Guess, Tries, guess, seconds
from dressage.teams.models import User
from dressage.teams.selectors import has_signed_in_from

_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86400.0
DEVICE_FREE, DEVICE_LONGEST = 10, _MINUTE
STRANGER_FREE, STRANGER_LONGEST = 3, _HOUR
NETWORK_FREE, NETWORK_LONGEST = STRANGER_FREE, 5 * _MINUTE
"""Free guesses in a known network. More than strangers have would reveal, in that network, which accounts exist."""
SESSION_FREE = 5
CROWD, CROWD_FREE = 100, 1
"""Guesses from strange networks at one account, after which each new network has a single free guess."""
ALONE_BURST, ALONE_EVERY = 15_000, _DAY / 1_000
"""First guesses of strange networks at one account."""
SHARED_BURST, SHARED_EVERY = 50, _DAY / 240
"""All further guesses of strange networks at one account."""
CODE_BURST, CODE_EVERY, CODE_CROWD = 100, _DAY / 100, 50
"""First guesses of strange networks at the second factor of one account, whose password they know."""
CHALLENGE_BURST, CHALLENGE_EVERY = 300, 2.0
"""Passkey challenges that one network may request."""
ADDRESS_BURST, ADDRESS_EVERY = 30, 30.0
"""Guesses of one strange network at all accounts together: each costs a hash that is deliberately slow."""


@dataclass(frozen=True)
class _Strangers:
    """Guesses at one account that all strangers share."""

    burst: int
    every: float
    crowd: int


def count_sign_in(request: HttpRequest, email: str, user: User | None, device_pass: str = "") -> Guess:  # nosec B107
    """Count a guess at the account of this address, whether it exists or not, before its password is checked.

    Args:
        request: supplies device and address.
        email: the address that was entered.
        user: owner of that account; None if there is none.
        device_pass: pass of a new device, if any.

    Raises:
        Problem: 429 that says how long to wait; nothing was counted.
    """
    network = network_of(client_address(request))
    device = known_device(request, user, device_pass) if user else None
    is_known = user is not None and has_signed_in_from(user, network)
    advice = "" if device else "; a browser in which you have signed in before need not wait"
    return _admitted(sign_in_gates(email, network, device, is_known), advice)


def sign_in_gates(email: str, network: str, device: str | None, is_known_network: bool) -> tuple[Gate, ...]:
    """Gates of a guess: every limit that it counts towards. See the package."""
    strangers = _Strangers(ALONE_BURST, ALONE_EVERY, CROWD)
    lines = _lines("", email.strip().lower(), network, device, is_known_network, strangers)
    if device is not None or is_known_network:
        return lines
    return (Allowance(_key("address", network), ADDRESS_BURST, ADDRESS_EVERY), *lines)


def count_code(request: HttpRequest, user: User) -> Guess:
    """Count a guess at a second-factor code, by someone who knows the password, before the code is checked.

    Raises:
        Problem: 429 that says how long to wait; nothing was counted.
    """
    network = network_of(client_address(request))
    device, is_known = known_device(request, user), has_signed_in_from(user, network)
    return _admitted(code_gates(user.id, network, device, is_known))


def code_gates(user: str, network: str, device: str | None, is_known_network: bool) -> tuple[Gate, ...]:
    """Gates of a guess at a code: lines like those for passwords, separate from them, and shorter for strangers.

    A guess has 3 chances in a million. Strangers have 490 on the first day and 340 on each following one.
    """
    strangers = _Strangers(CODE_BURST, CODE_EVERY, CODE_CROWD)
    return _lines("code ", user, network, device, is_known_network, strangers)


def _lines(
    purpose: str, subject: str, network: str, device: str | None, is_known_network: bool, strangers: _Strangers
) -> tuple[Gate, ...]:
    """The line in which a guess waits: that of its device, of its known network, or of strangers."""
    if device is not None:
        return (Tries(key=_key(f"{purpose}device", subject, device), free=DEVICE_FREE, longest=DEVICE_LONGEST),)
    pair = _key(f"{purpose}network", subject, network)
    if is_known_network:
        return (Tries(key=pair, free=NETWORK_FREE, longest=NETWORK_LONGEST),)
    return (
        Tries(
            key=pair,
            free=STRANGER_FREE,
            longest=STRANGER_LONGEST,
            alone=Allowance(_key(f"{purpose}alone", subject), strangers.burst, strangers.every),
            shared=Allowance(_key(f"{purpose}shared", subject), SHARED_BURST, SHARED_EVERY),
            crowd=strangers.crowd,
            free_in_crowd=CROWD_FREE,
        ),
    )


def count_in_session(request: HttpRequest, purpose: str) -> Guess:
    """Count a guess by someone who is signed in, such as at the current password. Only this session waits.

    Raises:
        Problem: 429 that says how long to wait.
    """
    session = str(request.session.session_key)
    return _admitted((Tries(key=_key(purpose, session), free=SESSION_FREE, longest=_HOUR),))


def count_challenge(request: HttpRequest) -> None:
    """Count a passkey challenge, since each creates a row. Raises a 429 problem."""
    network = network_of(client_address(request))
    _admitted((Allowance(_key("challenge", network), CHALLENGE_BURST, CHALLENGE_EVERY),))


def count_from_address(request: HttpRequest, purpose: str) -> Guess:
    """Count a guess by an unknown client at something without an account, such as the link of an invitation.

    Raises:
        Problem: 429 that says how long to wait.
    """
    network = network_of(client_address(request))
    return _admitted((Allowance(_key(purpose, network), ADDRESS_BURST, ADDRESS_EVERY),))


def _admitted(gates: tuple[Gate, ...], advice: str = "") -> Guess:
    counted = guess(*gates)
    if counted.wait > 0:
        wait = seconds(counted.wait)
        raise Problem(
            429,
            "Too many requests",
            f"There were too many wrong guesses. Try again in {wait} s{advice}.",
            code="throttled",
            headers={"Retry-After": str(wait)},
        )
    return counted


def _key(*parts: str) -> str:
    return "guess:" + hashlib.sha256("\0".join(parts).encode()).hexdigest()
