log = print


def h(a, c):
    with c:
        if a:
            return
        log('one')


def f(a, c):
    h(a, c)
    log('two')
