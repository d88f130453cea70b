import asyncio


async def ticks(n):
    for i in range(n):
        yield i


async def run(n):
    acc = await _acc(n=n)
    return acc


async def _acc(*, n):
    acc = 0
    async for t in ticks(n):
        acc += t
    return acc
