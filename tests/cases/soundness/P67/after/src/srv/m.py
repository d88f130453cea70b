async def f(c):
    with c:
        return 1
