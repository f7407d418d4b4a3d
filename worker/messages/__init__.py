"""Messages that travel between the actors of a run. Imports no stage."""
