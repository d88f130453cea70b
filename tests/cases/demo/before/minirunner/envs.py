"""Environment variables that the engine understands."""

import os

_TRUE = {"1", "true", "yes", "on"}


def get_bool(name: str, default: bool = False) -> bool:
    value = os.environ.get(name)
    return default if value is None else value.strip().lower() in _TRUE


def get_str(name: str, default: str = "") -> str:
    return os.environ.get(name, default)
