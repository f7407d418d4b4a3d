"""The registry of base policies."""
