"""The policy in the learner: loading, adapters, output layer, routing, and names and storage of weights."""
