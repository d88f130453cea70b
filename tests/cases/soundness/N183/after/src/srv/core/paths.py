from pathlib import Path


def folder():
    return Path(__file__).parent.name
