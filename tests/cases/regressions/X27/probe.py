import asyncio
from m import start
log = []
waiting = start(log)
print(log)
print(asyncio.run(waiting), log)
