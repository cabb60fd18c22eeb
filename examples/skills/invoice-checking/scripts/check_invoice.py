"""Check the arithmetic, tax and IBAN of one invoice given as JSON; amounts are exact decimals."""

import argparse
import json
import re
import sys
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

CENT = Decimal("0.01")
EXPECTS = """expected JSON:
  {"lines": [{"description": "Paper A4", "quantity": "3", "unit_price": "10.03", "discount": "0",
              "net": "30.09", "tax_rate": "19"}],
   "net_total": "30.09", "tax_total": "5.72", "gross_total": "35.81", "iban": "DE89370400440532013000"}
"discount" is an amount per line; "discount", "net" and "iban" may be left out.
exit status: 0 nothing found, 1 differences found, 2 the invoice cannot be read"""


def cents(amount: Decimal) -> Decimal:
    """The amount rounded half up to the cent."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def amount_of(owner: dict[str, Any], key: str, default: str | None = None) -> Decimal:
    """The exact decimal under a key; ValueError names the key when it is missing or no number."""
    value = owner.get(key, default)
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise ValueError(f"{key!r} is {value!r}, not a decimal number such as 12.50")
    return amount


def iban_is_valid(iban: str) -> bool:
    """Whether the check digits of an IBAN are right (ISO 7064 mod 97-10); says nothing about its owner."""
    compact = re.sub(r"\s", "", iban).upper()
    if not re.fullmatch(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", compact):
        return False
    digits = "".join(str(int(character, 36)) for character in compact[4:] + compact[:4])
    return int(digits) % 97 == 1


def check_lines(lines: list[dict[str, Any]]) -> tuple[list[str], dict[Decimal, list[Decimal]]]:
    """Findings about the lines, and the net amounts by tax rate."""
    findings: list[str] = []
    by_rate: dict[Decimal, list[Decimal]] = defaultdict(list)
    for number, line in enumerate(lines, start=1):
        expected = cents(amount_of(line, "quantity") * amount_of(line, "unit_price") - amount_of(line, "discount", "0"))
        stated = amount_of(line, "net", str(expected))
        if stated != expected:
            findings.append(f"line {number}: net is {stated}, should be {expected}")
        by_rate[amount_of(line, "tax_rate")].append(stated)
    return findings, by_rate


def check_totals(invoice: dict[str, Any], by_rate: dict[Decimal, list[Decimal]]) -> list[str]:
    """Findings about net, tax and gross; tax may be rounded per line or per rate."""
    net, tax, gross = (amount_of(invoice, key) for key in ("net_total", "tax_total", "gross_total"))
    findings: list[str] = []
    expected_net = sum((sum(nets, Decimal(0)) for nets in by_rate.values()), Decimal(0))
    if net != expected_net:
        findings.append(f"net total is {net}, the lines add up to {expected_net}")
    per_rate = sum((cents(sum(nets, Decimal(0)) * rate / 100) for rate, nets in by_rate.items()), Decimal(0))
    per_line = sum((cents(amount * rate / 100) for rate, nets in by_rate.items() for amount in nets), Decimal(0))
    if tax not in (per_rate, per_line):
        findings.append(f"tax is {tax}, should be {per_rate} (rounded per rate) or {per_line} (rounded per line)")
    if gross != net + tax:
        findings.append(f"gross total is {gross}, net plus tax is {net + tax}")
    return findings


def check(invoice: dict[str, Any]) -> list[str]:
    """All findings about one invoice, empty when it adds up; ValueError when it has another shape."""
    lines = invoice.get("lines")
    if not isinstance(lines, list) or not lines or not all(isinstance(line, dict) for line in lines):
        raise ValueError("'lines' must be a list of one or more objects")
    findings, by_rate = check_lines(lines)
    findings += check_totals(invoice, by_rate)
    iban = invoice.get("iban")
    if iban and not iban_is_valid(str(iban)):
        findings.append(f"IBAN {iban} has wrong check digits")
    return findings


def main() -> int:
    """Read the file that is named on the command line, print the findings, return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXPECTS, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("invoice", type=Path, help="JSON file of one invoice")
    path: Path = parser.parse_args().invoice
    try:
        # Numbers stay as they are written: a binary float would change the cents.
        invoice = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
        if not isinstance(invoice, dict):
            raise TypeError("the file must hold one JSON object")
        findings = check(invoice)
    except (OSError, TypeError, ValueError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 2
    for finding in findings:
        print(finding)
    if not findings:
        print("adds up")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
