"""Everything that runs on the cluster: rollout engines, learners, rewards, and the run controller that joins them."""
