import logging


def _root():
    return logging.getLogger()


def level():
    return _root().level
