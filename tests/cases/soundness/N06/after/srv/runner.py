from srv.logs import log
from srv.startup import warm


def start():
    warm(2)
    log.info("started")
