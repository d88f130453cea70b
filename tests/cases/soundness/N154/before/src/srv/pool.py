from functools import cached_property


class Pool:
    @cached_property
    def table(self):
        return []
