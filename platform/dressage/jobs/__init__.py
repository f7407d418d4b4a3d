"""Jobs of the cluster: what bench jobs and rehearsals have in common, from the row to the worker's lease."""
