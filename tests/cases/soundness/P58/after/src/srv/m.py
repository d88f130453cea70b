async def f(a):
    return a
