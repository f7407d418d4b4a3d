"""Sessions in the database, which end after a long idle time, and at a fixed time after the sign-in."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.base_session import AbstractBaseSession
from django.utils import timezone


class SessionStore(DatabaseStore):
    """Django's store. The cookie lasts as long as the session may last, the row only until the idle limit."""

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        row = super().create_model_instance(data)
        row.expire_date = min(row.expire_date, timezone.now() + timedelta(seconds=settings.SESSION_IDLE_S))
        return row
