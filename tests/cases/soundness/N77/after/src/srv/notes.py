def note(text, seen):
    seen.append(text)
    return seen
