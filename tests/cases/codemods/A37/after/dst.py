#!/usr/bin/env python
# licence line
"""About dst."""
from __future__ import annotations

import os

X = 1


def here():
    return os.sep
