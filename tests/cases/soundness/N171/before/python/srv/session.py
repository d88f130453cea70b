from srv.errors import Full, check


def serve(n):
    try:
        check(n)
    except Full:
        return "full"
    return "ok"
