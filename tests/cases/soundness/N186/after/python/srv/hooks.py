import importlib
from pathlib import Path


def run(n):
    module, name = Path(__file__).with_name("hook.txt").read_text().strip().split(":")
    return getattr(importlib.import_module(module), name)(n)
