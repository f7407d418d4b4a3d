"""Quality of rows by a judge's rubric, and how far a person agrees with it."""
