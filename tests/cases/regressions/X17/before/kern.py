def quick(xs):
    return "quick", sum(xs)
