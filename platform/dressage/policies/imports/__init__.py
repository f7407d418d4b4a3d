"""Imports of policies from the Hugging Face hub and from object stores, in the background and to be gone on with."""
