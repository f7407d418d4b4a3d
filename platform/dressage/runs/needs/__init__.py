"""What a spec of a run names and needs: references, room, reward versions, and what a policy supports."""
