from srv.config import settings

FOREVER = None


def wait(timeout=settings["timeout"]):
    return timeout
