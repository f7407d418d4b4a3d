"""The link to the platform: sends events, receives commands, fetches what a run needs."""
