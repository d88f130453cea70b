async def f(a):
    for x in a:
        return x
