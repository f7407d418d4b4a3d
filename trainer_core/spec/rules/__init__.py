"""Rules between the parts of a run spec: combinations that make no sense."""
