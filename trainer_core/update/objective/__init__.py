"""The loss of a micro-batch and what it is made of: objectives, returns, refined advantages, metrics."""
