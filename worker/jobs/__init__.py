"""Jobs of the platform that a cluster works on. All share one actor, link and lease; each kind adds its work."""
