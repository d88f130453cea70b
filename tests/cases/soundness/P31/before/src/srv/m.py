log = print


def f(a, b):
    if a > 3:
        log('big')
    else:
        log('small')
