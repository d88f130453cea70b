def mark(n):
    text = "one twothree"
    return text * n


def run(n):
    return mark(n)
