log = print


def f(a):
    for x in a:
        if x:
            log('big')
    log('small')
