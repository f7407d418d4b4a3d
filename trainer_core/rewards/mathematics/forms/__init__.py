"""One form for answers that are written in several: sets of numbers, lists that are one answer, constants."""
