class Tape:
    def __init__(self):
        self.at = 0

    def __str__(self):
        self.at += 1
        return "tape"

    def run(self):
        text = f"{self}"
        return f"{text} at {self.at}"
