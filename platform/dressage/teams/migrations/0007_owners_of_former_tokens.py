"""Owners and ends of the API tokens of before.

A token belongs to the person who made it, where that person is a member still whose role covers the token's. The others
are nobody's: they go on as they did, and the console asks admins to decide. What had no end gets the latest that a new
token may have, counted from now.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import migrations
from django.utils import timezone

_ORDER = ["viewer", "editor", "operator", "admin"]


def give_owners(apps: Any, schema_editor: Any) -> None:
    """Tie each token to its maker where that changes nothing that it may do."""
    token_model, entry_model = apps.get_model("teams", "ApiToken"), apps.get_model("teams", "AuditEntry")
    user_model, membership_model = apps.get_model("teams", "User"), apps.get_model("teams", "Membership")
    for token in token_model.objects.filter(user=None, service_account=None):
        entry = entry_model.objects.filter(action="token.create", target_id=token.id, actor_kind="user").first()
        # The audit log knows the person's id; an address may have passed to another since.
        maker = {"id": entry.actor_id} if entry else {"email": token.created_by}
        user = user_model.objects.filter(**maker, is_active=True).first()
        membership = user and membership_model.objects.filter(
            team_id=token.team_id, user=user, created_at__lte=token.created_at
        ).first()
        if membership and _ORDER.index(membership.role) >= _ORDER.index(token.role):
            token_model.objects.filter(pk=token.pk).update(user=user)


def give_ends(apps: Any, schema_editor: Any) -> None:
    """End every token some day."""
    end = timezone.now() + timedelta(days=settings.TOKEN_DAYS_MAX)
    apps.get_model("teams", "ApiToken").objects.filter(expires_at=None).update(expires_at=end)


class Migration(migrations.Migration):
    dependencies = [("teams", "0006_token_owners")]

    operations = [
        migrations.RunPython(give_owners, migrations.RunPython.noop),
        migrations.RunPython(give_ends, migrations.RunPython.noop),
    ]
