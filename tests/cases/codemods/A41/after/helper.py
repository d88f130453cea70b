def boot():
    return 1


def ready():
    return 1
