def tokens(n):
    if n < 0:
        raise ValueError("negative")
    for each in range(n):
        yield each * 2
