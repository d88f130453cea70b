def run():
    a = b = []
    a.append(1)
    return b
