"""``python zoo/train.py RECIPE --data NAME``: trains a model, on one process or on several."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    if not __package__:
        # Started as a script, Python looks for modules beside it; the packages are a folder above.
        sys.path[0] = str(Path(__file__).resolve().parent.parent)

    from zoo.cli.train import main

    main()
