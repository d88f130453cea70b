import importlib
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))


def load(job):
    with open(os.path.join(HERE, "plugins.json"), encoding="utf-8") as file:
        module, _, name = json.load(file)[job].partition(":")
    return getattr(importlib.import_module(module), name)
