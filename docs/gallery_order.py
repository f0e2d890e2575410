"""Order of the examples in the gallery: from the first steps to the last word."""

from pathlib import Path

ORDER = (
    "quickstart",
    "text_pipeline",
    "text_encoder",
    "label_graph",
    "decisions",
    "suggest_tags",
    "label_errors",
    "why_these_tags",
    "demo",
    "grid_search",
    "hierarchy",
    "ablation",
)


def example_order(filename):
    """Place of an example; unknown ones come last."""
    name = Path(filename).stem.removeprefix("plot_")
    return ORDER.index(name) if name in ORDER else len(ORDER)
