def run(n):
    if n < 2:
        n += 5
    if n > 3:
        n *= 2
    return n
