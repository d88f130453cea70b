import asyncio


class Runner:
    def __init__(self, model):
        self.model = model

    async def pause(self):
        await asyncio.sleep(0)

    async def load(self, n):
        parts = [f"{self.model}{k}" for k in range(n)]
        return "+".join(parts)
