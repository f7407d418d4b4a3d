"""Browser sessions: their life cycle, where they are stored, and the browser's name as text."""
