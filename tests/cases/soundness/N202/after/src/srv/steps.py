def advance(by, *, step):
    return step + by if by > 3 else step + 1
