"""Mappings of uploaded files: a preview of what they make, and those that a team has saved."""
