def foo(b):
    b.x = 5
def f(b):
    foo(b)
    return b.x
