from srv.cli import parse


def double(value: str):
    return value * 2


def run():
    return double(parse(double, "4"))
