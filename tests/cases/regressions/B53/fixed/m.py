import os


def limit():
    return int(os.environ.get("LIM", "5"))


def __getattr__(name):
    if name == "LIM":
        return limit()
    raise AttributeError(name)
