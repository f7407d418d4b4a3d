"""Users, teams, roles, API tokens and the audit log; authentication, and the base of views that act for a team."""
