import asyncio
from srv.m import f
print(asyncio.run(f([1])))
