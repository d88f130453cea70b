import ast


class Names(ast.NodeVisitor):
    def __init__(self):
        self.found = []

    def visit_Name(self, node):
        self.found.append(node.id)

    def visit_Attribute(self, node):
        self.found.append(node.attr)


def names(text):
    visitor = Names()
    visitor.visit(ast.parse(text))
    return visitor.found
