def mk(n):
    return f"name {n}"
