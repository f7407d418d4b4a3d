"""Scoring of many samples at a time, each with its own time limit, with the tools that their graders need."""
