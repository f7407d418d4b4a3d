"""Evolving rubrics: what runs propose, and what people make of it."""
