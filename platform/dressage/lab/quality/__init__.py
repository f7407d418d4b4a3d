"""Quality of rows by a judge's rubric, and how much people agree with the judge."""
