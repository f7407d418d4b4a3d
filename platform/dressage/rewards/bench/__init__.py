"""The reward bench: a job on the cluster for any definition, and a quick try in the web tier for pure ones."""
