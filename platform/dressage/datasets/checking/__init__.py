"""Check of an uploaded file: it is read, checked and stored by a process of its own, which knows no database."""
