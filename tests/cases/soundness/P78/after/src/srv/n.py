def f(a):
    total = a * 10
    total += len(str(a))
    return total
