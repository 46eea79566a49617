"""Reads the functions that the public headers declare. Used by the symbol test."""

import re


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def declarations(text):
    """The top-level declarations of a C header, each without its braces' contents."""
    text = strip_comments(text)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
    text = re.sub(r'extern\s+"C"\s*\{', "", text)
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"\{[^{}]*\}", " ", text)
    return [" ".join(part.split()) for part in text.split(";")]


def functions(text):
    """(declared, unmarked): function names, and those of them without TILUS_API."""
    declared, unmarked = set(), set()
    for declaration in declarations(text):
        if declaration.startswith(("typedef", "static", "struct", "enum", "union")):
            continue
        match = re.match(r"(TILUS_API\b)?[\w\s*]*?\b(tilus_\w+)\s*\(", declaration)
        if not match:
            continue
        declared.add(match.group(2))
        if not match.group(1):
            unmarked.add(match.group(2))
    return declared, unmarked
