log = print


def h(a, b):
    if a:
        if b:
            return
        log('one')


def f(a, b):
    h(a, b)
    log('two')
