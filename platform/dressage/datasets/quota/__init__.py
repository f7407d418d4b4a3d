"""Dataset quotas: how many bytes and rows a team may store."""
