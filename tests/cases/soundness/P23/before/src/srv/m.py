log = print


def f(a):
    for x in a:
        if x:
            return
    log('none')
