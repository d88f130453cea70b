def fill(rows):
    rows.append("new")


def run(rows):
    size = len(rows)
    fill(rows)
    return _text(size)


def _text(size):
    return f"{size} rows"
