log = print


def h(a):
    if a:
        return
    log('one')


def f(a):
    h(a)
    log('two')
