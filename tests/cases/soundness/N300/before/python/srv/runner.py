def run(n):
    if n < 2:
        n += 5
    elif n > 3:
        n *= 2
    return n
