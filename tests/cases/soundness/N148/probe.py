import asyncio
from srv.runner import Runner
runner = Runner()
asyncio.run(runner.run())
print(runner.out)
