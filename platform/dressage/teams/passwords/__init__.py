"""Rules of new passwords."""
