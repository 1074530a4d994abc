"""Text to build from, offline: writes the manual that ships with every Python as JSON Lines.

Usage: ``python examples/python_manual.py OUT.jsonl``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from pydoc_data.topics import topics


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with Path(sys.argv[1]).open("w", encoding="utf-8", newline="\n") as out:
        for title in sorted(topics):
            record = {"title": title, "text": topics[title].strip()}
            out.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
