"""`python -m codemods` is the command `unmoved`."""

from __future__ import annotations

import sys

from codemods.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
