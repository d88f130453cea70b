from srv.tree import Tree
print(Tree(2).leaves(3))
