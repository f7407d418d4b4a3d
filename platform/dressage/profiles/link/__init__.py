"""The link of a profile: what its worker may ask and tell, with a token that is good for this profile alone."""
