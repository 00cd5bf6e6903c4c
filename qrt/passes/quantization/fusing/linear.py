from qrt.ir import Block


def fuse_linear(block: Block) -> None:
    """TODO"""
