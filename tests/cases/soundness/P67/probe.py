import asyncio
from srv.m import f


class C:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *given):
        return None


print(asyncio.run(f(C())))
