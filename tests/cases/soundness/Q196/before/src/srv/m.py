def run(x):
    try:
        y = 1 / x
        z = y + 1
    except ZeroDivisionError:
        return 'zero'
    return z
