def run(x):
    try:
        y = 1 / x
        z = y + int('a' if x == 2 else '1')
    except ZeroDivisionError:
        return 'zero'
    return z
