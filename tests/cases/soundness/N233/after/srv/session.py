class QueueFull(Exception):
    pass


def check(n):
    if n > 8:
        raise QueueFull(n)


def serve(n):
    try:
        check(n)
    except QueueFull as error:
        return {"error": type(error).__name__}
    return {}
