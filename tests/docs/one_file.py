"""A page that is one HTML file by itself: whole, and asking for nothing."""

import html.parser
import re


class Reader(html.parser.HTMLParser):
    """Elements that are opened and closed, what scripts and <pre> hold, and every address that is asked for."""

    VOID = {"meta", "br", "link", "img", "input", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.texts, self.addresses, self.declared = [], [], {}, [], None

    def handle_decl(self, decl):
        self.declared = decl

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data", "action"):
                self.addresses.append(value)
        if tag not in self.VOID:
            self.open.append((tag, dict(attributes).get("id")))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.faults.append(f"</{tag}> closes {self.open[-1:] or 'nothing'}")
        else:
            self.open.pop()

    def handle_data(self, data):
        if self.open:
            tag, name = self.open[-1]
            self.texts[name or tag] = self.texts.get(name or tag, "") + data


def read(path, wrong):
    """The texts of the page by their element's id or name; what is wrong with it goes to `wrong`."""
    text = path.read_text(encoding="utf-8")
    reader = Reader()
    reader.feed(text)
    reader.close()
    wrong += reader.faults + [f"<{tag}> is never closed" for tag, _ in reader.open]
    if reader.declared != "doctype html":
        wrong.append("it is no HTML 5")
    if reader.addresses:
        wrong.append(f"it asks for {reader.addresses}")
    if re.search(r"@import|url\(|https?://(?!www\.w3\.org/2000/svg)", text):
        wrong.append("it asks for another file")
    if re.search(r"@[A-Z]+@", text):
        wrong.append("a part was left out")
    return reader.texts
