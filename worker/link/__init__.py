"""The link to the platform: events up, commands down, what a run needs fetched."""
