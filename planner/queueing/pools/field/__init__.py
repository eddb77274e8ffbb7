"""The mean field of alias pools, for any number of pools and alias counts at once."""
