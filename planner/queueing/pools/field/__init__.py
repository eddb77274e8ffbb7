"""The mean field of any pool, closed, open or mixed, around D."""
