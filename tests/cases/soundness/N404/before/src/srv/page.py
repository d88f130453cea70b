from srv.bases import Base


class View(Base):
    def label(self) -> str:
        return super().label() + "!"

    def twice(self) -> str:
        return self.label() * 2


def shown() -> str:
    return View().twice()
