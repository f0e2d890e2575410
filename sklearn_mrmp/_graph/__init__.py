"""The label graph: which labels attract each other and which avoid each other. numpy and scipy."""
