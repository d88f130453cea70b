def size(words: list[str], most: int = 3) -> int:
    return min(len(words), most)
