log = print


def f(a, c):
    with c:
        if a:
            return
        log('one')
    log('two')
