"""Scoring of many samples at a time, each within its own time, with whatever tools their graders need."""
