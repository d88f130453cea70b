def quick_sum(xs):
    return "quick", sum(xs)
