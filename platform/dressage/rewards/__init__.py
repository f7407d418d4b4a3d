"""Versioned reward definitions, the judges they call, and proposals for their rubrics."""
