def lines(rows, indent):
    for r in rows:
        yield " " * indent + r


def render(rows):
    return lines(rows, 2)
