"""Users, teams, roles, API tokens and the audit log."""
