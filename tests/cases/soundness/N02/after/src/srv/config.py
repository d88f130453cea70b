settings = {"timeout": 10}
