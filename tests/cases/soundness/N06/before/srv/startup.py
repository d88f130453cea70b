from srv.logs import log


def hello():
    log.info("hello")
