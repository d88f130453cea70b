import dst


class Fmt:
    def line(self, d):
        return f'{d['k']}:{'\n'.join(d)}'

    def other(self):
        return dst.other()
