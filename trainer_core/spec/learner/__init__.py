"""Parameters of the learner: policy, adapter, optimizer, number formats, workers."""
