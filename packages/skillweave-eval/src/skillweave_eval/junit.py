"""Trigger tests as JUnit XML, which continuous integration shows by itself."""

import re
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET

from skillweave import Severity
from skillweave_eval.triggers import TestResult, TriggerReport


def junit_xml(report: TriggerReport) -> str:
    """The report as JUnit XML: a suite for each file of tests, and one for the triggers and descriptions."""
    suites: dict[str, list[TestResult]] = defaultdict(list)
    for result in report.results:
        suites[result.path or report.subject.data].append(result)
    root = ET.Element("testsuites", name="skillweave eval")
    for path, results in suites.items():
        failed = sum(not result.passed for result in results)
        suite = ET.SubElement(root, "testsuite", name=path, tests=str(len(results)), failures=str(failed))
        for result in results:
            case = ET.SubElement(suite, "testcase", classname=Path(path).stem, name=clean(result.id), time="0")
            if result.path:
                case.set("file", clean(result.path))
            if result.line:
                case.set("line", str(result.line))
            if result.problems:
                said = clean("; ".join(result.problems))
                ET.SubElement(case, "failure", message=said).text = clean(f"{result.query}\n{said}")
    errors = [one for one in report.findings if one.severity is Severity.ERROR]
    suite = ET.SubElement(
        root, "testsuite", name="triggers and descriptions", tests=str(len(errors)), failures=str(len(errors))
    )
    for found in errors:
        case = ET.SubElement(suite, "testcase", classname=found.code, name=clean(found.message), time="0")
        ET.SubElement(case, "failure", message=clean(found.message)).text = clean(str(found))
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def clean(text: str) -> str:
    """The text without the characters that XML cannot hold, each as a question mark."""
    return _NO_XML.sub("?", text)
