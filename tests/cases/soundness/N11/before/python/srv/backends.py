from srv.registry import NAMES

NAMES.append("flash")
NAMES.append("torch")


def best(names):
    return names[0] if names else None
