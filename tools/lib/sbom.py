# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Completes a bill of materials: reads what "reuse spdx" wrote, and writes it with the
version and the libraries that a build needs.  Of one commit, the output is always the same.

usage: sbom.py NAME VERSION DATE CONTROL <FILES.spdx"""

import re
import sys


def libraries(control):
    """Yields (package, least version or None) of the libraries in Build-Depends."""
    with open(control, encoding="utf-8") as file:
        needed = re.search(r"^Build-Depends:((?:.*\n)(?:[ \t].*\n)*)", file.read(), re.MULTILINE)
    for word in needed[1].split(","):
        match = re.match(r"\s*(lib[a-z0-9.+-]+-dev|python3-[a-z0-9-]+)\s*(?:\(>=\s*([^)]+)\))?",
                         word)
        if match:
            yield match[1], match[2]


def main():
    name, version, date, control = sys.argv[1:]
    fixed = {
        "DocumentName": f"{name}-{version}",
        "DocumentNamespace": f"https://spdx.org/spdxdocs/{name}-{version}",
        "Created": date,
    }
    for line in sys.stdin:
        key = line.partition(":")[0]
        if line.startswith("Creator: Person: Anonymous"):
            continue
        sys.stdout.write(f"{key}: {fixed[key]}\n" if key in fixed else line)
    package = "SPDXRef-Package"
    print(f"\nPackageName: {name}\nSPDXID: {package}\nPackageVersion: {version}\n"
          "PackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\n"
          "PackageLicenseConcluded: NOASSERTION\nPackageCopyrightText: NOASSERTION\n"
          f"Relationship: SPDXRef-DOCUMENT DESCRIBES {package}")
    for library, least in sorted(libraries(control)):
        identifier = f"SPDXRef-{re.sub('[^A-Za-z0-9.-]', '-', library)}"
        print(f"\nPackageName: {library}\nSPDXID: {identifier}\n"
              + (f"PackageComment: <text>{least} or later</text>\n" if least else "")
              + "PackageDownloadLocation: NOASSERTION\nFilesAnalyzed: false\n"
              f"ExternalRef: PACKAGE-MANAGER purl pkg:deb/debian/{library}\n"
              f"Relationship: {identifier} BUILD_DEPENDENCY_OF {package}")


if __name__ == "__main__":
    main()
