class TooMany(Exception):
    pass


def check(n):
    if n > 8:
        raise TooMany(n)


def serve(n):
    try:
        check(n)
    except TooMany as error:
        return {"error": type(error).__name__}
    return {}
