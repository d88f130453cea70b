def share(a, b, c):
    total = a * b + c
    return (
        total
    )
