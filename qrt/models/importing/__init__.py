"""What importers of models share: the nodes and the graphs of a walk, and the operations that operators become."""
