"""PostgreSQL and Redis in one folder: no service to install, no root. Free of Django, so tests use it too."""
