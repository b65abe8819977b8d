// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/session_model.hpp"

#include "views/format/text.hpp"
#include "views/palette.hpp"

#include <QDateTime>

#include <cmath>

namespace loadline {

void SessionModel::setLines(std::vector<SessionLine> lines)
{
    if (lines == m_lines)
        return; // a selection and an edit under way stay
    beginResetModel();
    m_lines = std::move(lines);
    endResetModel();
}

void SessionModel::setCurrent(std::int64_t id)
{
    if (id == m_current)
        return;
    m_current = id;
    if (!m_lines.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, kColumns - 1));
}

const SessionLine* SessionModel::at(const QModelIndex& index) const
{
    return index.isValid() && index.row() < rowCount() ? &m_lines[static_cast<std::size_t>(index.row())] : nullptr;
}

int SessionModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
}

int SessionModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : kColumns;
}

QString SessionModel::words(const SessionLine& line, int column) const
{
    switch (column) {
    case Name:
        return line.id == m_current ? tr("%1 (open)").arg(line.name) : line.name;
    case Model:
        return line.model;
    case Cluster:
        return line.cluster;
    case Budget:
        return line.budget ? bytesText(*line.budget) : QString();
    case StepTime:
        return line.step ? secondsText(*line.step) : tr("nothing fits");
    case Error:
        return line.measuredError ? signedPercentText(*line.measuredError) : tr("not run");
    case Date:
        return QDateTime::fromSecsSinceEpoch(line.modified).toString(QStringLiteral("yyyy-MM-dd HH:mm"));
    case Tags:
        return line.tags.join(QStringLiteral(", "));
    default:
        return QString(line.notes).replace(QLatin1Char('\n'), QLatin1Char(' '));
    }
}

QVariant SessionModel::data(const QModelIndex& index, int role) const
{
    const SessionLine* line = at(index);
    if (line == nullptr)
        return {};
    if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole || role == Qt::ToolTipRole)
        return words(*line, index.column());
    if (role == Qt::EditRole)
        return index.column() == Name ? line->name : index.column() == Notes ? line->notes : words(*line, index.column());
    if (role == Qt::FontRole)
        return fontOf(11.5, line->id == m_current && index.column() == Name);
    return {};
}

bool SessionModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    const SessionLine* line = at(index);
    if (line == nullptr || role != Qt::EditRole || value.toString() == data(index, Qt::EditRole).toString())
        return false;
    if (index.column() == Name && value.toString().trimmed().isEmpty())
        return false; // a session without a name could not be asked for
    emit edited(line->id, index.column(), value.toString());
    return true;
}

Qt::ItemFlags SessionModel::flags(const QModelIndex& index) const
{
    const Qt::ItemFlags usual = QAbstractTableModel::flags(index);
    const int column = index.column();
    return column == Name || column == Tags || column == Notes ? usual | Qt::ItemIsEditable : usual;
}

QVariant SessionModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section < 0 || section >= kColumns)
        return {};
    const QString names[] = {tr("SESSION"),        tr("MODEL"),   tr("CLUSTER"), tr("BUDGET"), tr("STEP TIME"),
                             tr("MEASURED ERROR"), tr("CHANGED"), tr("TAGS"),    tr("NOTES")};
    return names[section];
}

} // namespace loadline
