"""`python -m engine`. Decides nothing."""

from __future__ import annotations

import sys

from engine.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
