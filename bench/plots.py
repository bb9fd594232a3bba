"""Plots as SVG, for a page that opens without a network."""

import html
import math

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 12, 44
# Colours that most people tell apart (Okabe and Ito), the strongest for what is ours.
OURS = ["#0072b2", "#009e73", "#56b4e9"]
THEIRS = ["#d55e00", "#cc79a7", "#e69f00", "#7f7f7f", "#8c564b", "#b8a000"]


def colours(names, ours):
    """A colour for each name; ours(name) says whether it is airlock's."""
    palettes = {True: iter(OURS * 3), False: iter(THEIRS * 3)}
    return {name: next(palettes[bool(ours(name))]) for name in names}


def short(value):
    """1500 -> 1.5k."""
    for size, unit in [(1e9, "G"), (1e6, "M"), (1e3, "k")]:
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


class Scale:
    """From values to a place between `low` and `high` of the picture."""

    def __init__(self, values, low, high, log):
        values = [value for value in values if value is not None and (value > 0 or not log)]
        least, most = (min(values), max(values)) if values else (1, 10)
        self.log = log
        if log:
            self.first, self.last = math.floor(math.log10(least)), math.ceil(math.log10(most))
            self.last = max(self.last, self.first + 1)
        else:
            self.first, self.last = min(0, least), most * 1.05 or 1
        self.low, self.high = low, high

    def __call__(self, value):
        place = math.log10(max(value, 10 ** self.first)) if self.log else value
        return self.low + (place - self.first) / (self.last - self.first) * (self.high - self.low)

    def ticks(self):
        if self.log:
            step = max(1, (self.last - self.first) // 8)
            return [10 ** power for power in range(self.first, self.last + 1, step)]
        step = 10 ** math.floor(math.log10((self.last - self.first) / 2))
        while (self.last - self.first) / step > 6:
            step *= 2
        return [step * i for i in range(int(self.last / step) + 1)]


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{html.escape(words)}</text>'


def frame(x, y, x_name, y_name, height=HEIGHT):
    parts = []
    for tick in x.ticks():
        at = x(tick)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{height - BOTTOM}"/>')
        parts.append(text(at, height - BOTTOM + 15, short(tick)))
    for tick in y.ticks() if y else []:
        at = y(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(text(LEFT - 6, at + 4, short(tick), "end"))
    parts.append(text((LEFT + WIDTH) / 2, height - 8, x_name))
    if y_name:
        parts.append(text(0, 0, y_name, more=f'transform="translate(14 {(TOP + height - BOTTOM) / 2:.0f}) rotate(-90)"'))
    return "".join(parts)


def svg(content, label, height=HEIGHT):
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(label, quote=True)}">'
            f"{content}</svg>")


def legend(names, colour):
    items = "".join(f'<span><i style="background:{colour[name]}"></i>{html.escape(name)}</span>' for name in names)
    return f'<div class="legend">{items}</div>'


def lines(title, series, colour, x_name, y_name, x_log=True, y_log=True):
    """`series` is {name: [(x, y)]}."""
    points = [point for line in series.values() for point in line]
    x = Scale([point[0] for point in points], LEFT, WIDTH - RIGHT, x_log)
    y = Scale([point[1] for point in points], HEIGHT - BOTTOM, TOP, y_log)
    parts = [frame(x, y, x_name, y_name)]
    for name, line in series.items():
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line)
        parts.append(f'<polyline fill="none" stroke="{colour[name]}" stroke-width="2" points="{path}">'
                     f"<title>{html.escape(name)}</title></polyline>")
        if len(line) < 20:
            parts += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour[name]}">'
                      f"<title>{html.escape(name)}: {a:g}, {b:.4g}</title></circle>" for a, b in line]
    return svg("".join(parts), title) + legend(series, colour)


def ranges(title, rows, colour, x_name, log=True):
    """`rows` is [(name, low, high)]: a dot at `low` and a line to `high`; without `high` a bar up to `low`."""
    left = 190
    height = TOP + BOTTOM + 24 * len(rows)
    x = Scale([value for row in rows for value in row[1:]], left, WIDTH - RIGHT, log)
    parts = [frame(x, None, x_name, "", height)]
    for number, (name, low, high) in enumerate(rows):
        y = TOP + 24 * number + 14
        parts.append(text(left - 8, y + 4, name, "end"))
        hint = f"<title>{html.escape(name)}: {low:.4g}" + ("" if high is None else f" to {high:.4g}") + "</title>"
        if high is None:
            parts.append(f'<rect x="{left}" y="{y - 6}" width="{max(1, x(low) - left):.1f}" height="12" '
                         f'fill="{colour[name]}">{hint}</rect>')
        else:
            parts.append(f'<line x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{y}" y2="{y}" stroke="{colour[name]}" '
                         f'stroke-width="4">{hint}</line>'
                         f'<circle cx="{x(low):.1f}" cy="{y}" r="6" fill="{colour[name]}">{hint}</circle>')
    return svg("".join(parts), title, height)
