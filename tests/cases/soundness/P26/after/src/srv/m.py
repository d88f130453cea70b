log = print


def h(a):
    try:
        return a()
    except ValueError:
        log('one')


def f(a):
    h(a)
    log('two')
