"""Retrieval: four layers, one formula, and what of it fits into a prompt."""
