from dst import ask

OUT = ask()
