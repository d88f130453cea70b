from srv.view import View


def shown() -> str:
    return View().twice()
