log = print


def is_big(a):
    if a > 3:
        return True


def f(a):
    if is_big(a):
        log('big')
    else:
        log('small')
