"""REST views of datasets, versions and notes."""
