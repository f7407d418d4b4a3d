#!/usr/bin/env python
"""Django's entry point, and the product's: ``python manage.py up`` starts everything."""

import os
import sys
from pathlib import Path


def main() -> None:
    """Put ``platform/`` on the path (it must not be a package: it would shadow the standard library's) and run."""
    root = Path(__file__).resolve().parent
    sys.path[:0] = [str(root / "platform"), str(root)]
    os.umask(0o077)  # what is written belongs to the data folder, which is its owner's alone
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dressage.settings")
    if sys.argv[1:2] == ["doctor"]:
        from dressage.doctor.command import main as doctor  # before Django, which the faults keep from starting

        sys.exit(doctor(sys.argv[2:]))
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
