// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/sessions_page.hpp"

#include "views/pages/page_parts.hpp"
#include "views/panels/cell_delegates.hpp"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>

namespace loadline {

SessionsPage::SessionsPage(QWidget* parent)
    : QWidget(parent), m_model(new SessionModel(this)), m_view(new QTreeView(this)), m_filter(new QLineEdit(this)),
      m_open(new QToolButton(this)), m_compare(new QToolButton(this)), m_duplicate(new QToolButton(this)), m_rename(new QToolButton(this)),
      m_remove(new QToolButton(this)), m_undo(new QToolButton(this)), m_note(new QLabel(this))
{
    auto* column = panelColumn(this);
    auto* head = new QWidget(this);
    head->setObjectName(QStringLiteral("workRow"));
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(12, 8, 16, 8);
    row->setSpacing(8);
    m_filter->setPlaceholderText(tr("filter: name, model, cluster, tag, note"));
    m_filter->setAccessibleName(tr("Filter the sessions"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMinimumWidth(260);
    row->addWidget(m_filter);
    const std::pair<QToolButton*, QString> verbs[] = {{m_open, tr("Open")},
                                                      {m_compare, tr("Compare two")},
                                                      {m_duplicate, tr("Duplicate")},
                                                      {m_rename, tr("Rename")},
                                                      {m_remove, tr("Delete")}};
    for (const auto& [button, words] : verbs) {
        button->setText(words);
        row->addWidget(button);
    }
    m_open->setObjectName(QStringLiteral("verb"));
    row->addWidget(m_undo);
    row->addStretch(1);
    m_undo->hide();
    m_view->setModel(m_model);
    auto* delegate = new RowDelegate(m_view);
    delegate->setFirstStrong(false);
    m_view->setItemDelegate(delegate);
    m_view->setRootIsDecorated(false);
    m_view->setUniformRowHeights(true);
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_view->setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::SelectedClicked);
    m_view->setAccessibleName(tr("Saved sessions"));
    m_view->header()->setStretchLastSection(true);
    const int widths[] = {250, 150, 150, 90, 100, 120, 130, 140};
    for (int i = 0; i < 8; ++i)
        m_view->header()->resizeSection(i, widths[i]);
    m_note->setObjectName(QStringLiteral("soft"));
    m_note->setContentsMargins(12, 6, 16, 8);
    m_note->setWordWrap(true);
    m_note->setTextFormat(Qt::PlainText);
    column->addWidget(head);
    column->addWidget(m_view, 1);
    column->addWidget(m_note);
    connect(m_view->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { enable(); });
    connect(m_model, &QAbstractItemModel::modelReset, this, [this] { enable(); });
    connect(m_filter, &QLineEdit::textChanged, this, &SessionsPage::filterChanged);
    const auto open = [this] {
        if (const auto lines = chosen(); lines.size() == 1)
            emit openAsked(lines.front()->id);
    };
    connect(m_open, &QToolButton::clicked, this, open);
    connect(m_view, &QTreeView::activated, this, open);
    connect(m_duplicate, &QToolButton::clicked, this, [this] {
        if (const auto lines = chosen(); lines.size() == 1)
            emit duplicateAsked(lines.front()->id);
    });
    connect(m_rename, &QToolButton::clicked, this, [this] {
        const auto rows = m_view->selectionModel()->selectedRows();
        if (rows.size() == 1)
            m_view->edit(rows.front());
    });
    connect(m_remove, &QToolButton::clicked, this, [this] {
        if (const auto lines = chosen(); lines.size() == 1)
            emit removeAsked(lines.front()->id, lines.front()->name);
    });
    connect(m_undo, &QToolButton::clicked, this, &SessionsPage::undoAsked);
    connect(m_compare, &QToolButton::clicked, this, [this] {
        if (const auto lines = chosen(); lines.size() == 2)
            emit compareAsked(lines[1]->id, lines[0]->id); // the older is A: the list has the newest first
    });
    enable();
}

std::vector<const SessionLine*> SessionsPage::chosen() const
{
    std::vector<const SessionLine*> lines;
    auto rows = m_view->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end(), [](const QModelIndex& a, const QModelIndex& b) { return a.row() < b.row(); });
    for (const QModelIndex& index : rows) {
        if (const SessionLine* line = m_model->at(index))
            lines.push_back(line);
    }
    return lines;
}

void SessionsPage::enable()
{
    const std::size_t count = chosen().size();
    m_open->setEnabled(count == 1);
    m_compare->setEnabled(count == 2);
    for (QToolButton* button : {m_duplicate, m_rename, m_remove})
        button->setEnabled(count == 1 && !m_readOnly);
    if (!m_readOnly)
        m_note->setText(m_model->lines().empty() ? (m_filter->text().isEmpty()
                                                        ? tr("Nothing is kept yet: the first change that you make is saved here by itself.")
                                                        : tr("No session has these words."))
                        : m_model->lines().size() == 1
                            ? tr("One session, kept in %1. Everything is saved by itself.").arg(m_file)
                            : tr("%1 sessions, kept in %2. Everything is saved by itself; choose two to compare them.")
                                  .arg(m_model->lines().size())
                                  .arg(m_file));
}

void SessionsPage::setLines(std::vector<SessionLine> lines)
{
    m_model->setLines(std::move(lines));
    enable();
}

void SessionsPage::setCurrent(std::int64_t id)
{
    m_model->setCurrent(id);
}

void SessionsPage::setReadOnly(const QString& why)
{
    m_readOnly = !why.isEmpty();
    m_note->setText(why);
    m_view->setEditTriggers(m_readOnly ? QAbstractItemView::NoEditTriggers
                                       : QAbstractItemView::EditKeyPressed | QAbstractItemView::SelectedClicked);
    enable();
}

void SessionsPage::setFile(const QString& file)
{
    m_file = file;
    enable();
}

void SessionsPage::setRemoved(const QString& name)
{
    m_undo->setVisible(!name.isEmpty());
    m_undo->setText(tr("Undo: delete '%1'").arg(name));
}

} // namespace loadline
