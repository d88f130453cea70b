def f():
    """Do f."""
