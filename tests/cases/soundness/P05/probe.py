import asyncio
from srv.m import f
x = asyncio.run(f(1))
print(x == 1)
getattr(x, 'close', int)()
