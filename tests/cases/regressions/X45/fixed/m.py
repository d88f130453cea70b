async def sync(send, wait):
    sending = send(1)
    await sending
    await wait(2)
