"""The mean field of alias pools, any number of pools and alias counts side by side."""
