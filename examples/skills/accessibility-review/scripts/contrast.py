"""Contrast ratio of two opaque colours by the WCAG 2 formula, and what it is enough for."""

import argparse
import json
import re
import sys

NAMED = {
    "black": "#000000",
    "white": "#ffffff",
    "red": "#ff0000",
    "green": "#008000",
    "blue": "#0000ff",
    "grey": "#808080",
    "gray": "#808080",
    "yellow": "#ffff00",
    "navy": "#000080",
}
LIMITS = {"AA text": 4.5, "AA large text, icons, borders": 3.0, "AAA text": 7.0, "AAA large text": 4.5}


def colour(text: str) -> tuple[int, int, int]:
    """Red, green and blue (0 to 255) of `#rgb`, `#rrggbb`, `rgb(r, g, b)` or one of a few names."""
    value = NAMED.get(text.strip().lower(), text.strip().lower())
    if match := re.fullmatch(r"rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)", value):
        red, green, blue = (int(part) for part in match.groups())
        if max(red, green, blue) <= 255:
            return red, green, blue
    if re.fullmatch(r"#?[0-9a-f]{3}|#?[0-9a-f]{6}", value):
        digits = value.lstrip("#")
        if len(digits) == 3:
            digits = "".join(digit * 2 for digit in digits)
        return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)
    raise argparse.ArgumentTypeError(
        f"{text!r} is not an opaque colour; write #rrggbb, #rgb, rgb(r, g, b) or one of {', '.join(NAMED)}"
    )


def luminance(rgb: tuple[int, int, int]) -> float:
    """Relative luminance, 0 (black) to 1 (white)."""
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in (value / 255 for value in rgb)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: tuple[int, int, int], second: tuple[int, int, int]) -> float:
    """Contrast ratio, 1 to 21; the order of the two colours does not matter."""
    lighter, darker = sorted((luminance(first), luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def main() -> int:
    """Print the ratio and the verdicts; exit status 1 when it is not enough for AA text."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="exit status: 0 enough for AA text, 1 not enough, 2 no colour"
    )
    parser.add_argument("text_colour", type=colour, help="for example '#767676' (quote the #)")
    parser.add_argument("background", type=colour, help="for example white")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    ratio = contrast(options.text_colour, options.background)
    verdicts = {name: ratio >= limit for name, limit in LIMITS.items()}
    # Rounded down for people: 4.496 must not be shown as a 4.5 that fails.
    shown = int(ratio * 100) / 100
    if options.json:
        print(json.dumps({"ratio": shown, **verdicts}))
    else:
        print(f"{shown:.2f}:1")
        for name, passed in verdicts.items():
            print(f"  {'passes' if passed else 'FAILS ':6} {name} ({LIMITS[name]}:1)")
    return 0 if verdicts["AA text"] else 1


if __name__ == "__main__":
    sys.exit(main())
