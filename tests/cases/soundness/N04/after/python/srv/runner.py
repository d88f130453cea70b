from srv.tables import table


def run():
    return table(3)
