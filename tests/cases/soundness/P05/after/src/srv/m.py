async def g(a):
    return a


async def h(a):
    x = await g(a)
    return x


async def f(a):
    return h(a)
