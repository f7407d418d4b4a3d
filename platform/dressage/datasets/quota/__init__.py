"""Quotas of datasets: how many bytes and rows a team may keep."""
