"""Days and systems: what a site measured over time, and from when on it will no longer do."""
