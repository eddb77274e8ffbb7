"""Closed pools by chains: one volume of each class with D, beside what the others do."""
