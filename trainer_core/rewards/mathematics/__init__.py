"""Mathematical answers: read from LaTeX and plain text into trees, and compared. Nothing of a text is ever evaluated
as Python, and only the standard library is used, so that the jail and the web tier can load it alike."""
