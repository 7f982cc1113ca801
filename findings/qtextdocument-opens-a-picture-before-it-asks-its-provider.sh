#!/usr/bin/env bash
# QTextDocument of Qt 6.4 opens the file of a picture before it asks the resource provider, and again if it gets nothing.
#
# Surprising: according to their documentation, setDefaultResourceProvider() (Qt 6.1) decides what documents may load, and
# an overridden loadResource() that returns nothing loads nothing. Neither keeps a document from opening a file named in its
# HTML; if that is a named pipe, it waits forever. Only a loadResource() that returns a picture prevents this.
#
# Versions: Qt 6.4.2 (Debian's qt6-base-dev 6.4.2+dfsg-10), g++ 12.2.
# Seen, for <img src=picture.png> drawn once (inotify counts how often the file is opened):
#     a default provider that returns a picture: opened 1 times, provider asked 0 times
#     loadResource returns nothing: opened 1 times
#     loadResource returns a picture: opened 0 times
# Source: QTextDocument::resource in qtbase's src/gui/text/qtextdocument.cpp calls loadResource first, and getAs in
# src/gui/text/qtextimagehandler.cpp loads the picture by its name where the document returns none.
# Ours: ui/theme/html_view.h; tests/gui/plain_text_test.cpp counts in the same way.
set -euo pipefail
for package in g++ qt6-base-dev; do
    dpkg-query --show "$package" >/dev/null 2>&1 || { echo "Debian's package $package is needed: apt-get install $package"; exit 2; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/picture.cpp" <<'C'
#include <QGuiApplication>
#include <QImage>
#include <QPainter>
#include <QTextDocument>
#include <QUrl>
#include <cstdio>
#include <sys/inotify.h>
#include <unistd.h>

struct Document : QTextDocument {
    QVariant loaded;
    QVariant loadResource(int, const QUrl&) override { return loaded; }
};

QVariant picture() {
    QImage image(1, 1, QImage::Format_ARGB32);
    image.fill(Qt::transparent);
    return image;
}

/// How often the picture's file is opened while a document with it is drawn.
int opened(QTextDocument& document) {
    const int watch = inotify_init1(IN_NONBLOCK);
    inotify_add_watch(watch, "picture.png", IN_OPEN);
    document.setHtml("<img src=picture.png>");
    QImage page(50, 50, QImage::Format_RGB32);
    QPainter painter(&page);
    document.drawContents(&painter);
    painter.end();
    inotify_event events[64];
    const ssize_t bytes = read(watch, events, sizeof events);
    close(watch);
    return bytes < 0 ? 0 : static_cast<int>(bytes / static_cast<ssize_t>(sizeof(inotify_event)));
}

int main(int count, char** arguments) {
    const QGuiApplication application(count, arguments);
    QImage(8, 8, QImage::Format_RGB32).save("picture.png");
    int asked = 0;
    QTextDocument::setDefaultResourceProvider([&](const QUrl&) { ++asked; return picture(); });
    QTextDocument provided;
    const int by_provider = opened(provided), asked_before = asked;
    QTextDocument::setDefaultResourceProvider({});
    Document nothing, something;
    something.loaded = picture();
    const int by_nothing = opened(nothing), by_something = opened(something);
    std::printf("Qt %s\na default provider that returns a picture: opened %d times, provider asked %d times\n", qVersion(), by_provider,
                asked_before);
    std::printf("loadResource returns nothing: opened %d times\nloadResource returns a picture: opened %d times\n", by_nothing, by_something);
    return by_provider > 0 && by_nothing > 0 && by_something == 0 ? 0 : 1;
}
C
headers=$(dpkg --listfiles qt6-base-dev | sed -n 's:/QtGui/QPainter$::p')
g++ -std=c++17 -fPIC -isystem "$headers" -isystem "$headers/QtCore" -isystem "$headers/QtGui" "$folder/picture.cpp" -o "$folder/picture" \
    -lQt6Gui -lQt6Core
cd "$folder"
QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$folder ./picture || {
    echo "Changed: Qt now asks before it opens a picture, or the comparison no longer holds."
    exit 1
}
