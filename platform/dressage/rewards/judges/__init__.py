"""Judge endpoints of a team: who may be called, with keys that only the workers receive."""
