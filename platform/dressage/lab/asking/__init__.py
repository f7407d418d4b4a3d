"""Questions to a judge endpoint about rows of a version: what the operations have in common that a model assists."""
