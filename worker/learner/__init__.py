"""The learner on Ray: its ranks, the stage that feeds them, and the weights it publishes."""
