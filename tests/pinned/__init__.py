"""Answers as they were: many drawn questions of each room, and what the code answered when they were written.

The expected values come from the code itself. They do not say that an answer is right: references, identities and
published tables do that elsewhere. They say that it moved, and by how much, so that no answer moves unnoticed.
``python -m tests.pinned`` writes them anew and prints what moved; a change that users notice is named in CHANGELOG.md.
"""
