"""Versioned reward definitions and the reward bench."""
