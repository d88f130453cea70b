log = print


def f(a, b):
    if a:
        if b:
            return
        log('one')
    log('two')
