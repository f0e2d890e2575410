"""Rows as the voters read them: tokens, bags and what a linear model sees. numpy and scipy."""
