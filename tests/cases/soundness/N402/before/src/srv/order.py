def sorted_out(items: list[int], groups: dict[int, list[int]]) -> list[int]:
    queue = list(items)
    done: list[int] = []
    while queue:
        item = queue.pop(0)
        fresh = [each for each in groups.get(item, ()) if each not in done]
        for twin in fresh:
            queue = [other for other in queue if other != twin]
            done.append(twin)
        done.append(item)
    return done
