class Base:
    def label(self) -> str:
        return "base"


class Loud(Base):
    def label(self) -> str:
        return super().label().upper()
