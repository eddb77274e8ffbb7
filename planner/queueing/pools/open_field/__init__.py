"""The mean field of open volumes, and of closed ones beside overloaded ones."""
