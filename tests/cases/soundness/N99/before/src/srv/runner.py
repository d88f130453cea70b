def run(n):
    depth = n * 2
    return f"{depth=}"
