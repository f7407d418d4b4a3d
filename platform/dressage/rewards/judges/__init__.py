"""Judge endpoints of a team: who may be asked, with keys that never leave the platform except to its workers."""
