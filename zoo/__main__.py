"""``python -m zoo``."""

from __future__ import annotations

from zoo.cli.app import main

if __name__ == "__main__":
    main()
