"""Charts as SVG inside a page: curves, dots along rows, points. They need no other package.

Colours of the axes are those of the page's style sheet, so that charts suit light and dark pages;
what a mark stands for shows when the pointer rests on it. Knows numpy.
"""

from dataclasses import dataclass
from html import escape

import numpy as np

# Okabe and Ito's colours, which people with any colour vision can tell apart, without the palest.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a7a")
_LEFT, _TOP, _BOTTOM, _RIGHT = 52, 26, 40, 14


def color_of(position):
    """Return the colour of a series; they repeat after seven."""
    return COLORS[position % len(COLORS)]


@dataclass(frozen=True)
class Scale:
    """From values to pixels.

    Attributes
    ----------
    low, high : float
        Values at the ends.
    start, stop : float
        Pixels there.
    is_log : bool, default=False
        Whether equal factors are equal distances.
    """

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def __call__(self, values):
        """Return pixels."""
        ends = np.array([self.low, self.high], dtype=float)
        values = np.asarray(values, dtype=float)
        if self.is_log:
            values, ends = np.log10(np.maximum(values, self.low)), np.log10(ends)
        return self.start + (values - ends[0]) / (ends[1] - ends[0]) * (self.stop - self.start)

    def ticks(self):
        """Return about five round values between the ends."""
        if self.is_log:
            powers = 10.0 ** np.arange(np.floor(np.log10(self.low)), np.log10(self.high) + 1)
            finer, coarser = (
                ticks[(ticks >= self.low) & (ticks <= self.high)]
                for ticks in (np.sort(np.outer([1, 2, 5], powers).ravel()), powers)
            )
            return finer if len(finer) <= 5 else coarser
        width = (self.high - self.low) / 5.5
        unit = 10.0 ** np.floor(np.log10(width))
        step = unit * next(factor for factor in (1, 2, 5, 10) if factor * unit >= width * 0.99)
        first = np.ceil(self.low / step - 1e-9)
        return step * np.arange(first, np.floor(self.high / step + 1e-9) + 1) + 0.0  # no -0


def limits(values, *, margin=0.08, within=(-np.inf, np.inf)):
    """Return the ends of an axis that holds all finite values, with room around them.

    Examples
    --------
    >>> from sklearn_mrmp._pages.charts import limits
    >>> limits([0.5, 1.0, float("nan")], margin=0.1, within=(0, 1))
    (0.45, 1.0)
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    room = margin * (high - low) or 0.05
    return float(max(low - room, within[0])), float(min(high + room, within[1]))


def curve_chart(title, series, *, x_label, y_label, x_limits, y_limits, marks=()):
    """Draw curves.

    Parameters
    ----------
    title, x_label, y_label : str
        What is drawn.
    series : sequence of (str, ndarray, ndarray)
        Name, x and y of each curve; the k-th has the k-th colour.
    x_limits, y_limits : (float, float)
        Ends of the axes.
    marks : sequence of (int, float), default=()
        Vertical dotted lines: the position of a series, and x.

    Returns
    -------
    svg : str
    """
    x, y = _scales(x_limits, y_limits)
    parts = _frame(title, x, y, x_label, y_label)
    for position, at in marks:
        line = f'<line x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{y.start}" y2="{y.stop}"'
        parts.append(f'{line} stroke="{color_of(position)}" stroke-dasharray="2 3"/>')
    for position, (name, xs, ys) in enumerate(series):
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x(xs), y(ys), strict=True))
        stroke = f'fill="none" stroke="{color_of(position)}" stroke-width="2"'
        parts.append(
            f'<polyline points="{points}" {stroke}><title>{escape(name)}</title></polyline>'
        )
    return _figure(parts, 360, 250)


def point_chart(title, names, xs, ys, *, x_label, y_label, y_limits, diagonal=False, log_x=False):
    """Draw points with names; with `diagonal` also the line on which both are equal.

    Returns
    -------
    svg : str
    """
    ends = (0.0, 1.0) if diagonal else (1.0, max(10.0, float(np.max(xs, initial=1.0)) * 1.2))
    x, y = _scales(ends, y_limits, log_x)
    parts = _frame(title, x, y, x_label, y_label)
    if diagonal:
        ends = f'x1="{x.start}" y1="{y.start}" x2="{x.stop}" y2="{y.stop}"'
        parts.append(f'<line class="axis" {ends} stroke-dasharray="4 3"/>')
    for name, a, b in zip(names, x(xs), y(ys), strict=True):
        if np.isfinite([a, b]).all():
            parts.append(_dot(a, b, COLORS[0], name, "fill-opacity='0.55'"))
    return _figure(parts, 360, 250)


def row_chart(title, rows, groups, *, log=False):
    """Draw a dot for each row and group, with a bar of its deviation.

    Parameters
    ----------
    title : str
        What is drawn.
    rows : sequence of str
        Names, from top to bottom.
    groups : sequence of (str, ndarray, ndarray)
        Name, values and deviations of each group; NaN is not drawn.
    log : bool, default=False
        Whether the axis is logarithmic; values are above 0 then.

    Returns
    -------
    svg : str
    """
    spread = [values + sign * np.nan_to_num(d) for _, values, d in groups for sign in (-1, 1)]
    low, high = limits(np.concatenate(spread)) if spread else (0.0, 1.0)
    if log:
        values = np.concatenate([values[values > 0] for _, values, _ in groups])
        low, high = (values.min() / 1.6, values.max() * 1.6) if len(values) else (0.1, 10.0)
    left = 12 + 7 * max((len(_short(name)) for name in rows), default=0)
    bottom = _TOP + 26 * len(rows)
    x, y = Scale(low, high, left, left + 210, log), Scale(0, len(rows), _TOP, bottom)
    parts = [f'<text x="{left}" y="16" font-weight="600">{escape(title)}</text>']
    parts += [_x_tick(x, tick, _TOP, bottom) for tick in x.ticks()]
    for row, name in enumerate(rows):
        place = f'x="{left - 6}" y="{y(row + 0.5) + 4:.1f}" text-anchor="end"'
        parts.append(f"<text {place}>{escape(_short(name))}<title>{escape(name)}</title></text>")
    for position, (group, values, deviations) in enumerate(groups):
        shift = 0.5 + 0.26 * (position - (len(groups) - 1) / 2)
        for row, (value, deviation) in enumerate(zip(values, deviations, strict=True)):
            if np.isfinite(value):
                text = f"{rows[row]}, {group}: {value:.3g}"
                parts.append(_bar(x, value, deviation, y(row + shift), position))
                parts.append(_dot(x(value), y(row + shift), color_of(position), text))
    return _figure(parts, left + 210 + _RIGHT, bottom + 24)


def legend(names):
    """Return what the colours of a chart stand for, as HTML."""
    items = [
        f'<span><span class="swatch" style="background:{color_of(k)}"></span>{escape(n)}</span>'
        for k, n in enumerate(names)
    ]
    return f'<div class="legend">{"".join(items)}</div>'


def _scales(x_limits, y_limits, log_x=False):
    x = Scale(*x_limits, _LEFT, 360 - _RIGHT, log_x)
    return x, Scale(*y_limits, 250 - _BOTTOM, _TOP)


def _frame(title, x, y, x_label, y_label):
    """Title, axes, grid and their names."""
    parts = [f'<text x="{_LEFT}" y="16" font-weight="600">{escape(title)}</text>']
    parts += [_x_tick(x, tick, y.stop, y.start) for tick in x.ticks()]
    for tick in y.ticks():
        at = f"{y(tick):.1f}"
        parts.append(f'<line class="grid" x1="{x.start}" x2="{x.stop}" y1="{at}" y2="{at}"/>')
        place = f'x="{x.start - 5}" y="{y(tick) + 4:.1f}" text-anchor="end"'
        parts.append(f'<text class="soft" {place}>{tick:.4g}</text>')
    middle = (x.start + x.stop) / 2
    parts.append(f'<text x="{middle}" y="244" text-anchor="middle">{escape(x_label)}</text>')
    place = f'text-anchor="middle" transform="translate(12 {(y.start + y.stop) / 2}) rotate(-90)"'
    return [*parts, f"<text {place}>{escape(y_label)}</text>"]


def _x_tick(x, tick, top, bottom):
    at = f"{x(tick):.1f}"
    line = f'<line class="grid" x1="{at}" x2="{at}" y1="{top}" y2="{bottom}"/>'
    place = f'class="soft" x="{at}" y="{bottom + 15}" text-anchor="middle"'
    return f"{line}<text {place}>{tick:.4g}</text>"


def _bar(x, value, deviation, y, position):
    if not np.isfinite(deviation):
        return ""
    ends = x([value - deviation, value + deviation])
    place = f'x1="{ends[0]:.1f}" x2="{ends[1]:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
    return f'<line {place} stroke="{color_of(position)}" stroke-width="2"/>'


def _dot(x, y, color, text, more=""):
    place = f'cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}" {more}'
    return f"<circle {place}><title>{escape(text)}</title></circle>"


def _short(name, length=26):
    return name if len(name) <= length else name[: length - 1] + "…"


def _figure(parts, width, height):
    head = f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
    return f"<figure>{head}{''.join(parts)}</svg></figure>"
