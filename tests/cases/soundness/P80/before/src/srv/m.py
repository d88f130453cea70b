def f(a, b):
    print(b)
    total = a * 10
    total += len(str(a))
    return total, sorted(dir())
