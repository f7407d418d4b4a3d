"""Invitations: created, sent, limited and accepted."""
