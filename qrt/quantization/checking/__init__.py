"""What a quantized program must satisfy, from the specification of regions and targets alone: nothing here comes from
what decides the parameters."""
