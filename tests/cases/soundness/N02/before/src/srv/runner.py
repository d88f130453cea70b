from srv.config import settings

settings["timeout"] = 30


def wait(timeout=settings["timeout"]):
    return timeout


def wait_twice():
    return wait() + wait()
