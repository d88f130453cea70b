def f():
    import xml
    return xml
