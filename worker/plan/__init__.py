"""``python -m worker.plan spec.yaml --gpus N``: time and cost of a run, and the best split of its GPUs."""
