"""The policy in the learner: loading, adapters, output layer, routing, names and storage of weights."""
