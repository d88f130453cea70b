def f():
    """Keys: 
    tags: 
    """
