"""The link of a serving: what its worker may ask and tell, with a token that is good for this serving alone."""
