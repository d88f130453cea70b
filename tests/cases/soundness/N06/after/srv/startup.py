from srv.logs import log


def hello():
    log.info("hello")


def warm(n):
    log.info("warming up %d", n)
