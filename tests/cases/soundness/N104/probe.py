from srv.runner import where
print(where("a/b.py"))
