import json
from pathlib import Path

from srv.scales import scale


def run(n):
    return scale(n)
