"""Codes: those of an authenticator app, and recovery codes to keep on paper."""

import io
import re
import secrets
import time
from dataclasses import dataclass

import pyotp
import segno
from pyotp.exceptions import OTPVerificationError

_STEPS_ASIDE = 1
"""Steps of 30 s by which the app's clock may be off."""
RECOVERY_CODES = 10
_RECOVERY_BYTES = 10
"""80 random bits: too many to brute-force, even with access to the hashes."""
_GROUP = 4


@dataclass(frozen=True)
class Key:
    """The key of an authenticator app, in the forms in which it is shown."""

    secret: str
    """Base 32, for typing."""
    uri: str
    """``otpauth://totp/…``, as apps read it."""
    qr: str
    """The URI as a QR code: an SVG document, created here, so that the key goes nowhere else."""


def new_key(account: str) -> Key:
    """A new key for the account of this name."""
    secret = pyotp.random_base32()
    uri = pyotp.TOTP(secret).provisioning_uri(name=account, issuer_name="Dressage")
    picture = io.BytesIO()
    segno.make(uri, error="m", micro=False).save(picture, kind="svg", scale=5, xmldecl=False, svgns=True, light="#fff")
    return Key(secret, uri, picture.getvalue().decode())


def step_of(secret: str, code: str) -> int | None:
    """The step of this code, among the current one and its neighbours; None if it matches none of them."""
    try:
        return pyotp.TOTP(secret).verify_and_get_timecode(code, for_time=time.time(), valid_window=_STEPS_ASIDE)
    except OTPVerificationError:
        return None


def is_of_an_app(code: str) -> bool:
    """Whether a code has the form of an app's code, and not that of a recovery code."""
    return re.fullmatch(r"[0-9]{6}", code) is not None


def plain(code: str) -> str:
    """A code without the spaces and dashes that people type, in lower case."""
    return re.sub(r"[\s-]", "", code).lower()


def new_recovery_codes() -> list[str]:
    """Ten codes such as ``k3xa-7qpd-m2fe-wz5t``."""
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    codes = ["".join(secrets.choice(alphabet) for _ in range(_RECOVERY_BYTES * 8 // 5)) for _ in range(RECOVERY_CODES)]
    return ["-".join(code[at : at + _GROUP] for at in range(0, len(code), _GROUP)) for code in codes]
