"""The text of the IR: parsing and printing, assembly formats, dense data."""
