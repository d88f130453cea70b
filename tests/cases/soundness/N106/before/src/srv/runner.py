from srv.json_format import load
from srv.toml_format import load


def run():
    return load()
