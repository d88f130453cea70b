import asyncio
from srv.m import f


async def gen():
    yield 1


print(asyncio.run(f(gen())))
