"""Saved views of charts: which come first and how they are drawn, private to a person or shared in the team."""
