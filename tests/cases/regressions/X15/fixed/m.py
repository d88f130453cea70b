class _Wrapper:
    def __init__(self, inner):
        self.inner = inner

    def _leave(self, *exc):
        return self.inner.__exit__(*exc)


class Guarded(_Wrapper):
    def __enter__(self):
        return self.inner.__enter__()

    def __exit__(self, *exc):
        return self._leave(*exc)
