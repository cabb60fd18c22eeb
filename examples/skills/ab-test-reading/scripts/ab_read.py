"""Read a two-armed test of proportions: sample ratio, difference with 95% interval, p-value, size needed."""

import argparse
import json
import math
import sys
from statistics import NormalDist

NORMAL = NormalDist()


def arm(text: str) -> tuple[int, int]:
    """Successes and trials from `480/10000`."""
    parts = text.replace("_", "").split("/")
    if len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts):
        successes, trials = int(parts[0]), int(parts[1])
        if 0 <= successes <= trials and trials > 0:
            return successes, trials
    raise argparse.ArgumentTypeError(f"{text!r}: write successes/trials, for example 480/10000")


def share(text: str) -> float:
    """A number strictly between 0 and 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if 0 < value < 1:
        return value
    raise argparse.ArgumentTypeError(f"{text!r}: write a number between 0 and 1, for example 0.5")


def sample_ratio_p(trials_a: int, trials_b: int, planned_a: float) -> float:
    """P-value of the arm sizes against the planned share of A (chi-square, one degree of freedom)."""
    total = trials_a + trials_b
    expected_a, expected_b = total * planned_a, total * (1 - planned_a)
    chi2 = (trials_a - expected_a) ** 2 / expected_a + (trials_b - expected_b) ** 2 / expected_b
    return math.erfc(math.sqrt(chi2 / 2))


def wilson(successes: int, trials: int, z: float) -> tuple[float, float]:
    """Wilson's interval of one proportion."""
    p = successes / trials
    middle = p + z * z / (2 * trials)
    half = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return (middle - half) / scale, (middle + half) / scale


def difference(a: tuple[int, int], b: tuple[int, int], z: float) -> tuple[float, float, float]:
    """B minus A with Newcombe's interval, which stays right for small counts: low, estimate, high."""
    p_a, p_b = a[0] / a[1], b[0] / b[1]
    (low_a, high_a), (low_b, high_b) = wilson(*a, z), wilson(*b, z)
    estimate = p_b - p_a
    low = estimate - math.hypot(p_b - low_b, high_a - p_a)
    high = estimate + math.hypot(high_b - p_b, p_a - low_a)
    return low, estimate, high


def p_value(a: tuple[int, int], b: tuple[int, int]) -> float:
    """Two-sided p-value of equal proportions (pooled z-test); 1 when neither arm varies."""
    pooled = (a[0] + b[0]) / (a[1] + b[1])
    error = math.sqrt(pooled * (1 - pooled) * (1 / a[1] + 1 / b[1]))
    if error == 0:
        return 1.0
    return math.erfc(abs(b[0] / b[1] - a[0] / a[1]) / error / math.sqrt(2))


def needed_per_arm(base: float, effect: float) -> int:
    """Size of each arm for 80% power at two-sided 5%, for an absolute effect."""
    z = NORMAL.inv_cdf(0.975) + NORMAL.inv_cdf(0.8)
    other = base + effect if base + effect < 1 else max(base - effect, 0.0)
    return math.ceil(z * z * (base * (1 - base) + other * (1 - other)) / effect**2)


def main() -> int:
    """Print the reading; exit status 1 when the sample ratio forbids one."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog="exit status: 0 read, 1 sample ratio mismatch (p < 0.001), 2 bad arguments"
    )
    parser.add_argument("a", type=arm, help="control: successes/trials, for example 480/10000")
    parser.add_argument("b", type=arm, help="treatment: successes/trials, for example 540/10000")
    parser.add_argument("--planned", type=share, default=0.5, metavar="SHARE", help="planned share of A (default 0.5)")
    parser.add_argument("--effect", type=share, help="smallest effect that matters, absolute; 0.005 is half a point")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    a: tuple[int, int] = options.a
    b: tuple[int, int] = options.b
    low, estimate, high = difference(a, b, NORMAL.inv_cdf(0.975))
    base = a[0] / a[1]
    ratio_p = sample_ratio_p(a[1], b[1], options.planned)
    reading = {
        "rate_a": base,
        "rate_b": b[0] / b[1],
        "difference": estimate,
        "low": low,
        "high": high,
        "p_value": p_value(a, b),
        "sample_ratio_p": ratio_p,
        "needed_per_arm": needed_per_arm(base, options.effect) if options.effect else None,
    }
    mismatch = ratio_p < 0.001
    if options.json:
        print(json.dumps({name: round(value, 6) if value is not None else None for name, value in reading.items()}))
        return int(mismatch)
    print(f"A {base:.2%} ({a[0]}/{a[1]}), B {b[0] / b[1]:.2%} ({b[0]}/{b[1]})")
    print(f"difference {100 * estimate:+.2f} points, 95% interval {100 * low:+.2f} to {100 * high:+.2f}")
    print(f"p-value {reading['p_value']:.4f}; sample ratio p {ratio_p:.4f}")
    if options.effect:
        print(f"for an effect of {100 * options.effect:.2f} points: {reading['needed_per_arm']} per arm")
    if mismatch:
        print("sample ratio mismatch: find out who is missing before you read anything else")
    return int(mismatch)


if __name__ == "__main__":
    sys.exit(main())
