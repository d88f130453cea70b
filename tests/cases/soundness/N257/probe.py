from srv.prompts import system
print(system())
