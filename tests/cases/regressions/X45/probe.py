import asyncio

from m import sync


async def nothing():
    pass


def say(number):
    print(number)
    return nothing()


asyncio.run(sync(say, say))
