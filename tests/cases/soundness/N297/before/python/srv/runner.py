import srv.limits
import srv.names


def room(n):
    return srv.limits.MAX - n
