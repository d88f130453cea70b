from m import Fmt
print(Fmt().line({"k": 1, "j": 2}), Fmt().other())
