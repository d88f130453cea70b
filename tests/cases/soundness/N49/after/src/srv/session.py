from srv.steps import Budget, spend


def serve(n):
    budget = Budget(left=n)
    return [spend(budget), spend(budget)]
