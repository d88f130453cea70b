import importlib


def load(kind):
    return importlib.import_module(f"srv.backend_{kind}").name()
