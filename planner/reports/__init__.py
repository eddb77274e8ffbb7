"""Readers of what users have: Performance Toolkit listings, tables, numbers with their printed resolution."""
