"""The text of the IR: parser, printer, assembly formats, dense and sparse constants."""
