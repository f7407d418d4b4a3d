"""Computer algebra of our own, which decides whether two expressions are equal. Only ever called in the jail."""
