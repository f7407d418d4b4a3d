"""Sharing of datasets: one team reads the rows of another, by invitation, under a name of its own."""
