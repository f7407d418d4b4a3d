"""The link of a rehearsal: what its worker may ask and tell, with a token that is good for this rehearsal alone."""
