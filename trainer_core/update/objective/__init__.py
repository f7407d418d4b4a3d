"""The loss of a micro-batch and its parts: objectives, returns, refined advantages, metrics."""
