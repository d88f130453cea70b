import asyncio


class Runner:
    def __init__(self):
        self.step = 0

    async def label(self):
        return await label(step=self.step)


async def label(*, step):
    await asyncio.sleep(0)
    return f"step {step}"
