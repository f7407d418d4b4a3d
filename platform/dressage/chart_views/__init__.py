"""Saved views of charts: what stands first and how it is drawn, kept by a person or shared in the team."""
