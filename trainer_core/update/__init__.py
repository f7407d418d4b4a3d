"""The update: packing, log-probabilities, objective, DeepSpeed learner and checkpoints."""
