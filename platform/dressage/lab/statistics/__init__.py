"""Statistics of rows: length, words, language, script, and the kind of the gold answer."""
