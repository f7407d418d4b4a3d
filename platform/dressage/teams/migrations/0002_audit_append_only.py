"""Audit entries cannot be changed or removed, not even by a mistake of ours."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE ON teams_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
"""
BACKWARD = """
DROP TRIGGER audit_append_only ON teams_auditentry;
DROP FUNCTION refuse_audit_change();
"""


class Migration(migrations.Migration):
    dependencies = [("teams", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
