import asyncio

from srv.loading import load


class Runner:
    def __init__(self, model):
        self.model = model

    async def pause(self):
        await asyncio.sleep(0)

    async def load(self, n):
        return await load(n, model=self.model)
