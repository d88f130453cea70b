from srv.bases import Loud as Base


class View(Base):
    def label(self) -> str:
        return super().label() + "!"

    def twice(self) -> str:
        return self.label() * 2
