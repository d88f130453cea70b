from srv.shapes import area


def cells(n):
    return area(n, n)
