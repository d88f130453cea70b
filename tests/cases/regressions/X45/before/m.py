async def sync(send, wait):
    await send(1)
    await wait(2)
