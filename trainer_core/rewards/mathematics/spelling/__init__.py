"""Meanings of texts before they are split into tokens: several spellings of one thing, formulas of chemistry."""
