async def f(a):
    return [x async for x in a]
