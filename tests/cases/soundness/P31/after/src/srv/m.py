log = print


def is_big(a, b):
    if a > 3:
        return b
    return False


def f(a, b):
    if is_big(a, b):
        log('big')
    else:
        log('small')
