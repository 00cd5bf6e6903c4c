"""What devices execute: kernels, the storage of their ports, and the constraints between the ports' parameters."""
