"""Seeded worlds built on the toolkit."""
