"""Graders that ask a model: judges, rubrics and reward models."""
