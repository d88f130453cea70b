import asyncio


class Runner:
    def __init__(self):
        self.step = 0

    async def label(self):
        await asyncio.sleep(0)
        return f"step {self.step}"
