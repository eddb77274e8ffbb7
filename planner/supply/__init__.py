"""Supply counters of alias pools to answers: enough aliases, too few, too many, and how many would do."""
