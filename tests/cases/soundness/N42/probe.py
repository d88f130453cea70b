from srv.runner import Draft
print(type(Draft.build(3)).__name__)
