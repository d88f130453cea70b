from srv.logs import log


def warm(n):
    log.info("warming up %d", n)


def start():
    warm(2)
    log.info("started")
