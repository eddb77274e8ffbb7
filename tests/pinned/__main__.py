"""Write the answers anew and say what moved: ``python -m tests.pinned [room ...]``."""

from __future__ import annotations

import json
import sys

from tests.pinned.figures import moved
from tests.pinned.rooms import FOLDER, ROOMS, written

SHOWN = 5  # differences of an answer

for room in sys.argv[1:] or ROOMS:
    path = FOLDER / f"{room}.json"
    before, now = written(room) if path.exists() else {}, ROOMS[room].answers()
    for name in now:
        differences = moved(before.get(name, {}), now[name]) if name in before else ["new"]
        for told in differences[:SHOWN]:
            print(f"{name}: {told}")
        if len(differences) > SHOWN:
            print(f"{name}: {len(differences)} differences in all")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in now.items())
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
