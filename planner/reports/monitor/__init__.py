"""z/VM monitor data: files that MONWRITE wrote, and captures of /dev/monreader (docs/monitor.md)."""
