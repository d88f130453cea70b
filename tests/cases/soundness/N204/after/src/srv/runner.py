from srv.limits import clip
from srv.names import make_name


def wrap(text):
    return "<" + text + ">"


def run(n):
    return wrap(make_name(clip(n)))
