def run(x):
    y = (
        max(x, 1, 2),
    )
    return y
