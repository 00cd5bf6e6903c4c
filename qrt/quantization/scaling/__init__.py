"""What `fold-scales` and `equalize-scales` read of products, and of the operations around them."""
