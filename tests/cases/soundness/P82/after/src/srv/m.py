def f(a, b):
    print(b)
    return h(a)


def h(a):
    total = a * 10
    total += len(str(a))
    return total, exec('print(sorted(locals()))')
