async def f(a):
    return [x for x in a]
