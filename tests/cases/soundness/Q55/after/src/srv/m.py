TABLE = {"a": 1}


def load():
    global TABLE
    TABLE = {"a": 2}


def run():
    table = TABLE
    load()
    return table["a"]
