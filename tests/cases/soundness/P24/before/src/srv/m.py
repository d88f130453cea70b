log = print


def f(a):
    if a:
        return
    log('one')
    log('two')
