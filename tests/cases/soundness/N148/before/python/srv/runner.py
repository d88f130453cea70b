class Runner:
    def __init__(self):
        self.out = []

    async def load(self):
        self.out.append("load")

    async def run(self):
        await self.load()
        self.out.append("warm")
        self.out.append("run")
