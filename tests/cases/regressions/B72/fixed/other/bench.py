def main():
    from lib.ops import q
    return q()
