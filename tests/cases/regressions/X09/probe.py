from m import Session
print(Session().see("a"), Session().see("b"))
