def run(n):
    if n == 0:
        out = "idle"
    else:
        out = f"run {n}"
    return out
