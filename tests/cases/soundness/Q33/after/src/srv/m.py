def foo(b):
    b.x = 5
def f(b):
    t = b.x
    foo(b)
    return t
