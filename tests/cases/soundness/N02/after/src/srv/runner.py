from srv.config import settings
from srv.waits import wait

settings["timeout"] = 30


def wait_twice():
    return wait() + wait()
