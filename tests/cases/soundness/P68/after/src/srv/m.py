async def f(a):
    async for x in a:
        return x
