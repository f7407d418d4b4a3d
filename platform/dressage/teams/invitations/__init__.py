"""Invitations: made, sent, limited and taken."""
