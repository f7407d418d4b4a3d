"""Problems of runs, and what runs depend on: incidents, judges, dataset versions."""
