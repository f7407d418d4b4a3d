"""What people ask of a run: create, start, pause, resume, cancel; and its states."""
