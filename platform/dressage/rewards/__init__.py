"""Versioned reward definitions, the judges they ask, and proposals for their rubrics."""
