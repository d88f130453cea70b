import argparse
CHOICES = ("lru", "lfu", "priority")


def parser():
    p = argparse.ArgumentParser(exit_on_error=False)
    p.add_argument("--policy", choices=list(CHOICES))
    return p
