"""People's own accounts, and their logs."""
