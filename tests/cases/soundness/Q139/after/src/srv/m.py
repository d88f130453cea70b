def fill(rows):
    rows[0] = "new"


def run(rows):
    first = rows[0]
    fill(rows)
    return first, "x"
