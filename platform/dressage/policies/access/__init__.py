"""Team credentials for the places that policies are imported from."""
