def make_name(n):
    return f"name {n}"
