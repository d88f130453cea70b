import asyncio
from srv.runner import Runner
print(asyncio.run(Runner("m").load(2)))
