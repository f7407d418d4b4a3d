"""What travels between the actors of a run. Imports no stage."""
