"""Shapes of rows that hold what the policy should write: completions, pairs of them, or plain text."""
