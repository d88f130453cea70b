log = print


def h(a):
    for x in a:
        if x:
            return


def f(a):
    h(a)
    log('none')
