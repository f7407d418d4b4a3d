"""Graders that look at the text itself: its words, form, length or language."""
