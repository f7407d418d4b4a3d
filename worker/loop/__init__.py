"""The run's loop: dispatch, collect, learn, sync, report."""
