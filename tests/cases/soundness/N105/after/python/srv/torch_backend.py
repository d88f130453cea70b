from srv.registry import NAMES

NAMES.append("torch")
