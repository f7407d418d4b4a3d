"""One row: its form, its id, its text, facts about it, and queries for rows."""
