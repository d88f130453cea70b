class Runner:
    def __init__(self):
        self.out = []

    async def load(self):
        self.out.append("load")

    async def run(self):
        await self._prepare()
        self.out.append("run")

    async def _prepare(self):
        await self.load()
        self.out.append("warm")
