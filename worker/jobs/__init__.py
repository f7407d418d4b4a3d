"""Jobs of the platform that a cluster works on. One actor, one link and one lease; a kind adds its work."""
