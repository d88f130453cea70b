TABLE = []
fill(TABLE)


def fill(table):
    table.append(1)
    table.append(2)
