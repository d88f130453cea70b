from m import Cart
cart = Cart()
print(cart.add(2), cart.add(3))
