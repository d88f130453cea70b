def tokens(n):
    if n < 0:
        raise ValueError("negative")
    return (each * 2 for each in range(n))
