log = print


def has_big(a):
    for x in a:
        if x:
            return True
    return False


def f(a):
    if has_big(a):
        log('big')
    else:
        log('small')
