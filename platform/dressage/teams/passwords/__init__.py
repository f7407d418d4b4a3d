"""Rules for new passwords."""
