TABLE = {"a": 1}


def load():
    global TABLE
    TABLE = {"a": 2}


def run():
    load()
    table = TABLE
    return table["a"]
