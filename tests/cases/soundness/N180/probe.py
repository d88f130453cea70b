from srv.session import again, serve
print(serve("ab", 2))
try:
    print(again("ab"))
except (TypeError, AttributeError) as error:
    print(type(error).__name__)
