from srv.checks import check
from srv.errors import Full


def serve(n):
    try:
        check(n)
    except Full:
        return "full"
    return "ok"
