def tag(n):
    return f"<{n}>"
