def blocks(num_bytes: int, block_bytes: int):
    count = num_bytes // block_bytes
    return count
