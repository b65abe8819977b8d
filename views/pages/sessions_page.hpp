// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/session_model.hpp"

#include <QWidget>

class QLabel;
class QLineEdit;
class QToolButton;
class QTreeView;

namespace loadline {

/// The sessions that are kept: filter, open, duplicate, rename, delete with undo, compare two.
class SessionsPage : public QWidget {
    Q_OBJECT
public:
    explicit SessionsPage(QWidget* parent = nullptr);

    void setLines(std::vector<SessionLine> lines);
    void setCurrent(std::int64_t id);
    /// Only readable: nothing can be changed, and why.
    void setReadOnly(const QString& why);
    void setFile(const QString& file);
    /// Offers to undo the deletion; empty: nothing to undo.
    void setRemoved(const QString& name);

    [[nodiscard]] SessionModel* model() const { return m_model; }
    [[nodiscard]] QTreeView* view() const { return m_view; }
    [[nodiscard]] QLineEdit* filter() const { return m_filter; }
    [[nodiscard]] QToolButton* openVerb() const { return m_open; }
    [[nodiscard]] QToolButton* duplicateVerb() const { return m_duplicate; }
    [[nodiscard]] QToolButton* renameVerb() const { return m_rename; }
    [[nodiscard]] QToolButton* removeVerb() const { return m_remove; }
    [[nodiscard]] QToolButton* compareVerb() const { return m_compare; }
    [[nodiscard]] QToolButton* undoVerb() const { return m_undo; }

signals:
    void openAsked(qint64 id);
    void duplicateAsked(qint64 id);
    void removeAsked(qint64 id, const QString& name);
    void undoAsked();
    void compareAsked(qint64 a, qint64 b);
    void filterChanged(const QString& words);

private:
    void enable();
    [[nodiscard]] std::vector<const SessionLine*> chosen() const;

    SessionModel* m_model;
    QTreeView* m_view;
    QLineEdit* m_filter;
    QToolButton* m_open;
    QToolButton* m_compare;
    QToolButton* m_duplicate;
    QToolButton* m_rename;
    QToolButton* m_remove;
    QToolButton* m_undo;
    QLabel* m_note;
    QString m_file;
    bool m_readOnly = false;
};

} // namespace loadline
