from pathlib import Path


def system():
    return Path(__file__).with_name("system.md").read_text()
