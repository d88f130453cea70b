settings = {"eager": False}
