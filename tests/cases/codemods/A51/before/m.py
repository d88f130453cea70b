HAVE = True
try:
    import surely_not_here_xyz
except ImportError:
    HAVE = False


def ask():
    if HAVE:
        return surely_not_here_xyz.ask()
    return 'nobody'
