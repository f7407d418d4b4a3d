"""Queries to a judge endpoint about the rows of a version: shared code of all operations that use a model."""
