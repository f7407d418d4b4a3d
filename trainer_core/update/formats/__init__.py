"""Number formats that the learner computes in, as engines do."""
