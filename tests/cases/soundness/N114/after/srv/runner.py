def getters(n):
    return [lambda: rank for rank in range(n)]
