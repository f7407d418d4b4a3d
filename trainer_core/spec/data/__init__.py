"""Parameters of the data: sources, curricula, prompting, the making of batches."""
