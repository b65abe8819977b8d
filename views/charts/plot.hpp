// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// qcustomplot.h includes all of QtPrintSupport, which more than doubles its cost to compile. Its guard is set here and the
// few headers that it really needs are named. Include this and never qcustomplot.h itself.
#define QT_QTPRINTSUPPORT_MODULE_H
#include <QCache>
#include <QDateTime>
#include <QLocale>
#include <QMargins>
#include <QPen>
#include <QSharedPointer>
#include <QStack>
#include <QVector2D>
#include <QWidget>

#include <qcustomplot.h>
