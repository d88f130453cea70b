class Stream:
    def tokens(self, ids):
        yield "start"
        self._body(ids)
        yield "end"

    def _body(self, ids):
        for each in ids:
            yield each
