"""Statistics of rows: length, words, language, script, and type of the gold answer."""
