"""The rules of NumPy's functions, by subject. The table loads each of these modules."""
