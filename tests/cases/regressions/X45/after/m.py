async def sync(send, wait):
    waiting = wait(2)
    await send(1)
    await waiting
