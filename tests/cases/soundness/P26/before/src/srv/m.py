log = print


def f(a):
    try:
        return a()
    except ValueError:
        log('one')
    log('two')
