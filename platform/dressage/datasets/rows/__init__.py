"""A single row: its form, id, text and facts, and queries for rows."""
