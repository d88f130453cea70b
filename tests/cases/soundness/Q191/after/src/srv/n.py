def call(board, what):
    return getattr(board, 'on_' + what, None) is not None
