def sorted_out(items: list[int], groups: dict[int, list[int]]) -> list[int]:
    waiting = list(items)
    done: list[int] = []
    while waiting:
        item = waiting.pop(0)
        fresh = [each for each in groups.get(item, ()) if each not in done]
        for twin in fresh:
            waiting = [other for other in waiting if other != twin]
            done.append(twin)
        done.append(item)
    return done
