class Worker:
    def __init__(self):
        self._build_backend()
        self._find_need()

    def _build_backend(self):
        self.backend = type("B", (), {"commit": 1})()

    def _find_need(self):
        self.need = hasattr(self.backend, "commit")
