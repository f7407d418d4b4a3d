"""The link: what a worker may ask and tell. It knows one run and one attempt, and nothing else of the platform."""
