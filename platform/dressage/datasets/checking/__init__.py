"""Checks uploaded files. A separate process without database access reads, checks and stores them."""
