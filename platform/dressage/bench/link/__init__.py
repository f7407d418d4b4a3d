"""The link of a bench job: what its worker may ask and tell, with a token that is good for this job alone."""
