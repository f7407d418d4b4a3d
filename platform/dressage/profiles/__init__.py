"""Profiles: how hard each row of a dataset version is for a policy, and which golds the policy contradicts."""
