"""Tests of the planner, folder by folder as the planner itself."""
