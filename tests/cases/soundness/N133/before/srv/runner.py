def label(depth):
    return f"{depth=}"
