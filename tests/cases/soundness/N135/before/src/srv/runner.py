def run(n):
    if n == 0:
        return "idle"
    else:
        size = n * 2
        return f"run {size}"
