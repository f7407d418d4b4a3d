"""Labelled pairs of a gold answer and an answer: the families that they are made by, and the file that holds them."""
