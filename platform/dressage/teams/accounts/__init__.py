"""Personal accounts, and their logs."""
