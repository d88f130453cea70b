def f(v, c):
    x = 0
    match v:
        case [y] if c:
            x = y
    return x
