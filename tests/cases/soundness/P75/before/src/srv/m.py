log = print


def f(a):
    if a > 3:
        log('big')
    else:
        log('small')
