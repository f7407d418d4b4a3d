"""Checks of the web tier that need Django but no database: migrations, the API's description, the settings.

``python -m scripts.lint.django_checks migrations|openapi|deploy``
"""

import io
import os
import sys
from collections.abc import Callable
from difflib import unified_diff
from unittest.mock import patch

from scripts.lint.runner import ROOT

sys.path.insert(0, str(ROOT / "platform"))
DESCRIPTION = ROOT / "frontend" / "openapi.json"
DEPLOYMENT = {
    "DRESSAGE_MODE": "production",
    "DRESSAGE_EMAIL_URL": "smtps://mail.example.com",
    "DRESSAGE_URL": "https://dressage.example.com",
    "DRESSAGE_TRUSTED_PROXIES": "127.0.0.1",
    "DRESSAGE_SECRET_KEY": "k" * 25 + "0123456789" * 3,
}
"""What an installation for others sets: an address behind TLS, its proxy, a mail server, and a key of its own."""


def migrations() -> int:
    """1 if a model differs from its migrations."""
    from django.core.management import call_command
    from django.db import connection

    # Django would also compare with the applied ones, and wait for a database that need not be there.
    with patch.dict(connection.settings_dict, ENGINE="django.db.backends.dummy"):
        call_command("makemigrations", check_changes=True, dry_run=True)
    return 0


def openapi() -> int:
    """1 if ``frontend/openapi.json`` is not what the code says."""
    from django.core.management import call_command

    said = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", stdout=said)
    found, stored = said.getvalue().splitlines(), DESCRIPTION.read_text().splitlines()
    print("\n".join(unified_diff(stored, found, "frontend/openapi.json", "the code", lineterm="", n=1)))
    return int(found != stored)


def deploy() -> int:
    """1 if Django's deployment check warns of the settings of an installation for others."""
    from django.core.management import call_command

    call_command("check", deploy=True, fail_level="WARNING")
    return 0


CHECKS: dict[str, Callable[[], int]] = {"migrations": migrations, "openapi": openapi, "deploy": deploy}


def main() -> int:
    """Run the named check; its exit status."""
    name = sys.argv[1]
    os.environ["DJANGO_SETTINGS_MODULE"] = "dressage.settings"
    os.environ.pop("DRESSAGE_DEBUG", None)
    if name == "deploy":
        os.environ.update(DEPLOYMENT)
    import django
    from django.core.management import CommandError

    django.setup()
    try:
        return CHECKS[name]()
    except CommandError as error:
        print(error)
        return 1


if __name__ == "__main__":
    sys.exit(main())
