"""Dataset sharing: by invitation, one team reads the rows of another team's dataset under its own name for it."""
