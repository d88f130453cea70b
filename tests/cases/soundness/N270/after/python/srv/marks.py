def mark(n):
    text = "one twothree"
    return text * n
