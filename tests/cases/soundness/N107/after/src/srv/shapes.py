def area(a, b):
    return a * b
