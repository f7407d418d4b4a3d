"""Number formats in which the learner computes, matching the engines."""
