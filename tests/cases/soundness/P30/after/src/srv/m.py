log = print


def is_big(a):
    if a > 3:
        return 0
    return 1


def f(a):
    if is_big(a):
        log('big')
    else:
        log('small')
