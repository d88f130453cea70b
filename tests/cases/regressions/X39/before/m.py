def blocks(num_bytes: int, block_bytes: int):
    return num_bytes // block_bytes
