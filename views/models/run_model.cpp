// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/run_model.hpp"

#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QDateTime>

#include <algorithm>

namespace loadline {
namespace {

template <class Value>
QString errorText(const std::optional<Value>& predicted, const std::optional<Value>& measured, auto number)
{
    if (!predicted || !measured || number(*predicted) <= 0)
        return {};
    return signedPercentText(number(*measured) / number(*predicted) - 1);
}

} // namespace

void RunModel::setLines(std::vector<RunLine> lines)
{
    if (lines == m_lines)
        return; // a selection stays
    beginResetModel();
    m_lines = std::move(lines);
    endResetModel();
}

bool RunModel::differs(int column) const
{
    const auto other = [&](const RunLine& line) { return words(line, column) != words(m_lines.front(), column); };
    return std::any_of(m_lines.begin(), m_lines.end(), other);
}

int RunModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
}

int RunModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : kColumns;
}

QString RunModel::words(const RunLine& line, int column) const
{
    const auto step = [](const std::optional<Seconds>& value) { return value ? secondsText(*value) : QString(); };
    const auto bytes = [](const std::optional<Bytes>& value) { return value ? bytesText(*value) : QString(); };
    switch (column) {
    case Date:
        return QDateTime::fromSecsSinceEpoch(line.started).toString(QStringLiteral("yyyy-MM-dd HH:mm"));
    case Where:
        return line.imported ? tr("imported") : tr("here");
    case Outcome:
        return line.outcome;
    case Model:
        return line.model;
    case Cluster:
        return line.cluster;
    case Ranks:
        return wholeText(line.ranks);
    case Settings:
        return line.settings;
    case Budget:
        return bytes(line.budget);
    case PredictedStep:
        return step(line.predictedStep);
    case MeasuredStep:
        return step(line.measuredStep);
    case StepError:
        return errorText(line.predictedStep, line.measuredStep, [](Seconds value) { return value.value(); });
    case PredictedPeak:
        return bytes(line.predictedPeak);
    case MeasuredPeak:
        return bytes(line.measuredPeak);
    case PeakError:
        return errorText(line.predictedPeak, line.measuredPeak, [](Bytes value) { return static_cast<double>(value.count()); });
    default:
        return {};
    }
}

QVariant RunModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole || role == Qt::ToolTipRole)
        return words(m_lines[static_cast<std::size_t>(index.row())], index.column());
    if (role == Qt::FontRole)
        return fontOf(11.5);
    return {};
}

QVariant RunModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= kColumns)
        return {};
    const QString names[] = {tr("RUN"),   tr("WHERE"),          tr("ENDED"),         tr("MODEL"),          tr("CLUSTER"),
                             tr("RANKS"), tr("SETTINGS"),       tr("BUDGET"),        tr("STEP PREDICTED"), tr("STEP MEASURED"),
                             tr("ERROR"), tr("PEAK PREDICTED"), tr("PEAK MEASURED"), tr("ERROR")};
    return names[section];
}

} // namespace loadline
