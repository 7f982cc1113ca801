"""English prose out of packages of Debian, for `./lab corpus`.

    python3 tools/corpus.py packages            names of the packages, one per line
    python3 tools/corpus.py write FILE DEB...   writes FILE out of these packages, and a table of them beside it
                                                (.sources.tsv); prints its progress in percent

A line of FILE is a paragraph, and an empty line separates documents. Readers return whatever may be prose; `is_prose` then
decides about every paragraph in the same way.
"""

import fnmatch
import gzip
import hashlib
import html
import os
import re
import struct
import subprocess
import sys
import tarfile
import unicodedata
import zlib
from html.parser import HTMLParser
from pathlib import Path

LEAST_BYTES = 60_000_000
DOCUMENT_CHARACTERS = 16_000  # longer documents are divided, so that every part of the shuffled text has many sources

# ---- readers: content of a file -> its paragraphs


class MarkupReader(HTMLParser):
    """Paragraphs of HTML and OSIS: the text between any two tags that are not part of a sentence."""

    PHRASE = set("a abbr acronym b bdi big cite code del dfn em font hi i ins kbd l mark q reference s samp seg small span "
                 "strike strong sub tt u var wbr".split())
    VOID = set("area base br col embed hr img input link meta source track wbr".split())  # have no end
    OMITTED = set("aside button caption figure footer form h1 h2 h3 h4 h5 h6 head header math nav note noscript pre script "
                  "select style svg table title".split())
    OMITTED_CLASSES = set("footnote footnotes headerlink highlight menu navfooter navheader programlisting related screen "
                          "sphinxsidebar synopsis toc".split())

    def __init__(self):
        super().__init__()
        self.paragraphs, self.text, self.omitted, self.depth = [], [], "", 0

    def handle_starttag(self, tag, attributes):
        if self.omitted:
            self.depth += tag == self.omitted
        elif tag in self.VOID:
            self.end_phrase(tag)
        elif tag in self.OMITTED or self.OMITTED_CLASSES & set((dict(attributes).get("class") or "").split()):
            self.omitted, self.depth = tag, 1
        else:
            self.end_phrase(tag)

    def handle_startendtag(self, tag, attributes):
        if not self.omitted:
            self.end_phrase(tag)

    def handle_endtag(self, tag):
        self.depth -= tag == self.omitted
        if not self.omitted or self.depth == 0:
            self.omitted = ""
            self.end_phrase(tag)

    def handle_data(self, data):
        if not self.omitted:
            self.text.append(data)

    def end_phrase(self, tag):
        if tag == "br":
            self.text.append(" ")
        elif tag not in self.PHRASE and tag != "note":
            self.paragraphs.append("".join(self.text))
            self.text.clear()


def read_markup(data):
    reader = MarkupReader()
    reader.feed(data.decode("utf-8", "replace"))
    reader.close()
    reader.end_phrase("html")
    return reader.paragraphs


def read_plain(data):
    """Paragraphs of plain text, separated by blank lines or, in collections, by lines of % signs; no tables."""
    for block in re.split(r"\n(?:[ \t]*|%+)\n", data.decode("utf-8", "replace")):
        if not re.search(r"\S[ \t]{3,}\S|\t\S+\t", block.strip()):
            yield block


def read_pod(data):
    """Perl's documentation: indented paragraphs are verbatim, and C<text> is markup within a paragraph."""
    phrase = re.compile(r"\b(?:L<(?:([^<>|]*)\|[^<>]*|(?:[^<>|]*/)?([^<>|]*))>|[BCFIS](?:<([^<>]*)>|<<+ ([^<>]*?) >>+))")
    for block in read_plain(data):
        if block[:1] not in "= \t":
            for _ in range(3):  # nested, from the inside
                block = phrase.sub(lambda match: next(filter(None, match.groups()), ""), re.sub(r"[XZ]<[^<>]*>", "", block))
            yield re.sub(r"E<(\w+)>", lambda match: html.unescape(f"&{match[1]};"), block)


def read_dictionary(data):
    """A dictionary in dictd's format: {word} is a cross-reference, and <field> a label."""
    for block in read_plain(gzip.decompress(data)):
        yield re.sub(r"[{}]|<[a-z, ]+> ", "", block)


GCIDE_LETTERS = {"ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "deg": "°", "eth": "ð", "thorn": "þ", "yogh": "ȝ"}
GCIDE_ACCENTS = {"=": "\u0304", "^": "\u0302", "~": "\u0303", "'": "\u0301", "`": "\u0300", '"': "\u0308", ",": "\u0327"}


def gcide_letter(match):
    """[ae] -> æ, ['e] -> é, [aum] -> ä."""
    name = re.sub(r"^(\w)um$", r'"\1', match[1])
    accented = unicodedata.normalize("NFC", name[1:] + GCIDE_ACCENTS.get(name[0], "")) if len(name) == 2 else match[0]
    return GCIDE_LETTERS.get(name, accented)


def read_gcide(data):
    """Webster's dictionary: each sense of a word becomes a paragraph that starts with the word."""
    # Number, pronunciation, part of speech, etymology, field or another spelling before the definition.
    prefix = re.compile(r"\s*(\d+\.|\([^()]*\)[.,;]?|\[[^][]*\][.,;]?|[,;]|(&|or|[a-z]{1,4}\.)(?=[\s,;])"
                        r"|[\w '-]+\\[^\\]*\\)\s*")
    word = ""
    for block in gzip.decompress(data).decode("utf-8", "replace").split("\n\n"):
        if header := re.match(r"(\S[^\\\n]*) \\[^\\]*\\", block):
            word, block = header[1], block[header.end():]
        elif block[:1].strip():
            word = ""
        if not word or "WordNet" in block or re.match(r"\s*(Syn:|[{(]|--)", block):  # WordNet itself is another source
            continue
        block = re.sub(r"\[([A-Za-z]+|[=^~'`\",][A-Za-z])\]", gcide_letter, block)
        block = re.sub(r"[{}]|\[[^][]*(1913|PJC|Century Dict)[^][]*\]", "", block)
        if note := re.match(r"\s*(Note|Usage): ", block):
            yield block[note.end():]
        else:
            while match := prefix.match(block):
                block = block[match.end():]
            yield f"{word}: {block}"


def read_wordnet(data):
    """WordNet's glosses, each after the words that it explains."""
    for line in data.decode().splitlines():
        fields, _, gloss = line.partition(" | ")
        if gloss and not line.startswith(" "):
            _, _, _, count, *words = fields.split(" ")
            names = ", ".join(re.sub(r"\(\w+\)$", "", word).replace("_", " ") for word in words[:2 * int(count, 16):2])
            yield f"{names[:1].upper()}{names[1:]}: {gloss.strip()}."


def read_sword(data, index):
    """A module of the SWORD project: compressed blocks of OSIS, and an index of their offsets and sizes."""
    for offset, size, _ in struct.iter_unpack("<III", index):
        text = zlib.decompress(data[offset:offset + size])
        yield from read_markup(re.sub(rb"</?w\b[^>]*>", b"", text))  # around each word, for a lexicon


def read_r_data(data):
    """Vectors of strings, each string a line, in R's database of lazily loaded data."""
    string = b"\x00\x04\x00\x09"
    while data:
        stream = zlib.decompressobj()
        value = stream.decompress(data[4:])
        data = stream.unused_data
        lines, at = [], value.find(string)
        while value.startswith(string, at):
            size, = struct.unpack_from(">I", value, at + 4)
            lines.append(value[at + 8:at + 8 + size])
            at += 8 + size
        yield from read_plain(b"\n".join(lines))


# ---- packages: reader, files (patterns of fnmatch), and the licence of the text where `licence_in` does not find it

SOURCES = {
    # Books
    "r-cran-janeaustenr": (read_r_data, ["/usr/lib/R/*/janeaustenr/data/Rdata.rdb"], "public-domain"),
    "sword-text-web": (read_sword, ["*.bz[sz]"], "public-domain"),
    "sword-comm-mhcc": (read_sword, ["*.bz[sz]"], "public-domain"),
    "sword-comm-tdavid": (read_sword, ["*.cz[sz]"], "public-domain"),
    "anarchism": (read_markup, ["*.html"], ""),
    "dict-devil": (read_dictionary, ["*.dict.dz"], "public-domain"),
    "crawl-common": (read_plain, ["*/dat/descript/*.txt", "*/dat/database/*.txt"], "GPL-2+"),
    # Dictionaries
    "dict-gcide": (read_gcide, ["*.dict.dz"], "GPL-2+"),
    "wordnet-base": (read_wordnet, ["*/wordnet/data.*"], "WordNet3.0"),
    "dict-foldoc": (read_dictionary, ["*.dict.dz"], "GFDL-1.1+"),
    "dict-jargon": (read_dictionary, ["*.dict.dz"], "public-domain"),
    # Manuals
    "libreoffice-help-en-us": (read_markup, ["*/help/en-US/text/*.html"], ""),
    "lilypond-doc-html": (read_markup, ["*/Documentation/[celmnuw]*/*.html"], "GFDL-1.3+"),
    "exim4-doc-html": (read_markup, ["*.html"], "GPL-2+"),
    "apache2-doc": (read_markup, ["*/manual/en/*.html"], "Apache-2.0"),
    "postgresql-doc-15": (read_markup, ["*.html"], ""),
    "sqlite3-doc": (read_markup, ["*.html"], ""),
    "git-doc": (read_markup, ["*.html"], ""),
    "linux-doc-6.1": (read_markup, ["*/html/[!t]*.html", "*/html/t[!r]*.html", "*/html/trace/*.html"], ""),
    "python3.11-doc": (read_markup, ["*/html/*/*.html"], "PSF-2"),
    "python-django-doc": (read_markup, ["*.html"], ""),
    "perl-doc": (read_pod, ["*.pod"], ""),
    "rust-doc": (read_markup, [f"*/rust-doc/html/{book}/*.html" for book in (
        "book", "edition-guide", "embedded-book", "nomicon", "reference", "rust*", "unstable-book")], "MIT or Apache-2.0"),
    "swi-prolog-doc": (read_markup, ["*.html"], ""),
}

# ---- what is prose

FREQUENT_WORDS = set("""a about after all also an and any are as at be because been but by can could do does for from had has
    have he her his if in into is it its may more most must no not of on one only or other our out she should so some such than
    that the their them then there these they this to up was we were what when which who will with would you your""".split())
CODE = re.compile(r"[{}<>=\\|_@#$%^~*+`¶§•→]|\w\(\)|::|[a-z][A-Z]|[a-z]\.[a-z]|/\w+/|--\w")


def clean(paragraph):
    """The paragraph as one line, without what typesetting left."""
    text = unicodedata.normalize("NFC", re.sub("[\u00ad\u200b-\u200f\ufeff¶]", "", paragraph))
    text = re.sub(r" *\[\d+\]", "", " ".join(text.split()))
    return re.sub(r" ([,.;:!?)])(?=\s|$)", r"\1", text)


def is_prose(text):
    """Sentences of English words: enough of them, with frequent words among them, and little that looks like code."""
    if len(text) < 50 or not re.match(r"[\"'“‘(]*[A-Z0-9]", text) or not re.search(r"[.!?][\"'”’)\]]*$", text):
        return False
    words = re.findall(r"[a-z]+", text.lower())
    return (len(words) >= 8 and sum(map(len, words)) + text.count(" ") >= 0.88 * len(text)
            and sum(word in FREQUENT_WORDS for word in words) >= max(3, 0.18 * len(words))
            and len(CODE.findall(text)) <= len(words) / 20)


# ---- writing


def files_of(package, patterns):
    """Contents of the files of a .deb whose names match, by name, in alphabetical order. Nothing is unpacked to disk."""
    contents = {}
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpacking:
        with tarfile.open(fileobj=unpacking.stdout, mode="r|") as archive:
            for member in archive:
                name = member.name.removeprefix(".")
                if member.isfile() and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                    contents[name] = archive.extractfile(member).read()
    return dict(sorted(contents.items()))


def licence_in(copyright_file):
    """The licence of most files, if the copyright file is machine-readable."""
    match = re.search(r"^Files:\s*\*\s*\n(?:.+\n)*?License:[ \t]*(\S.*)", copyright_file, re.MULTILINE)
    return match[1].strip() if match else "see its copyright file"


class Corpus:
    """Documents in an order that depends only on their names, and what each package gave."""

    def __init__(self):
        self.documents, self.sources, self.seen = [], [], set()

    def new_prose(self, paragraphs):
        """Lines of prose whose letters have not occurred before, in documents of about DOCUMENT_CHARACTERS at most."""
        document = ""
        for paragraph in filter(is_prose, map(clean, paragraphs)):
            letters = "".join(filter(str.isalpha, paragraph.casefold()))
            key = hashlib.blake2b(letters.encode(), digest_size=16).digest()
            if key not in self.seen:
                self.seen.add(key)
                document += paragraph + "\n"
                if len(document) > DOCUMENT_CHARACTERS:
                    yield document
                    document = ""
        if document:
            yield document

    def add_package(self, name, path, report):
        """Adds the prose of a .deb; `report` receives the share of it that has been read."""
        read, patterns, licence = SOURCES[name]
        about = f"/usr/share/doc/{name}/copyright"
        files = files_of(path, [*patterns, about])
        found = licence_in(files.pop(about, b"").decode("utf-8", "replace"))
        indexes = {file: files.pop(file) for file in list(files) if read is read_sword and file.endswith("zs")}
        size = 0
        for number, (file, data) in enumerate(files.items()):
            paragraphs = read(data, indexes[file[:-1] + "s"]) if read is read_sword else read(data)
            for part, document in enumerate(self.new_prose(paragraphs)):
                size += len(document.encode())
                place = hashlib.blake2b(f"{name} {file} {part}".encode()).digest()
                self.documents.append((place, document))
            report((number + 1) / len(files))
        version = subprocess.run(["dpkg-deb", "-f", path, "Version"], check=True, capture_output=True, text=True).stdout
        self.sources.append((size, name, version.strip(), licence or found))

    def text(self):
        return "\n".join(text for _, text in sorted(self.documents))

    def table(self):
        rows = (f"{name}\t{version}\t{size}\t{licence}" for size, name, version, licence in sorted(self.sources, reverse=True))
        return "\n".join(["package\tversion\tbytes\tlicence", *rows, ""])


def replace_file(path, text):
    """Writes a file under another name first, so that it only exists when it is complete."""
    partial = path.with_name(path.name + ".part")
    with open(partial, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def write(path, packages):
    """Writes the text of these .deb files to `path`."""
    by_name = {Path(package).name.split("_")[0]: package for package in packages}
    total = sum(map(os.path.getsize, packages))
    corpus, done = Corpus(), 0
    for name in SOURCES:
        size = os.path.getsize(by_name[name])
        corpus.add_package(name, by_name[name], lambda share: print(int(100 * (done + share * size) / total), flush=True))
        done += size
    text = corpus.text()
    if len(text.encode()) < LEAST_BYTES:
        sys.exit(f"the packages contain only {len(text) / 1e6:.1f} MB of prose, less than {LEAST_BYTES / 1e6:.0f} MB")
    replace_file(path.with_suffix(".sources.tsv"), corpus.table())
    replace_file(path, text)


if __name__ == "__main__":
    if sys.argv[1:] == ["packages"]:
        print(*SOURCES, sep="\n")
    else:
        write(Path(sys.argv[2]), sys.argv[3:])
