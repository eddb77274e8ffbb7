"""Days and systems: what a site measured over time, and when it runs out."""
