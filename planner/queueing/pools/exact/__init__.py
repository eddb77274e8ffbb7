"""Exact chains of small pools, and of single volumes."""
