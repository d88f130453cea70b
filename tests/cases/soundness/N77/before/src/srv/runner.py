class Runner:
    def note(self, text, seen=[]):
        seen.append(text)
        return seen
