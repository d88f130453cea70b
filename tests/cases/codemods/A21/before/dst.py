def used():
    return 3