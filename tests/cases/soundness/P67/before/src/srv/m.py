async def f(c):
    async with c:
        return 1
