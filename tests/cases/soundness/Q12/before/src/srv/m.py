def f(v, c):
    x = 0
    match v:
        case [x] if c:
            pass
    return x
