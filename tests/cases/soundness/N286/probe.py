import asyncio
from srv.runner import Runner
async def main():
    runner = Runner()
    task = asyncio.ensure_future(runner.label())
    await asyncio.sleep(0)
    runner.step = 7
    print(await task)
asyncio.run(main())
