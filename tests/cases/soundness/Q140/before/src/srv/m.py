def fill(rows):
    rows.append("new")


def run(rows):
    fill(rows)
    return _text(rows)


def _text(rows):
    return f"{len(rows)} rows"
