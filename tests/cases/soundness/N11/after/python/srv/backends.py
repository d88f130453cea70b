from srv.registry import NAMES

NAMES.append("flash")
NAMES.append("torch")
