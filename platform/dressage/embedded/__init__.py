"""PostgreSQL and Redis that live in one folder: no service to install, no root. Free of Django, so tests use it too."""
