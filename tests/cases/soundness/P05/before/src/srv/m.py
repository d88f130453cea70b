async def g(a):
    return a


async def f(a):
    x = await g(a)
    return x
