// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>

#include <optional>
#include <vector>

namespace loadline {

/// Where a person looked: page, tab below the charts, operator. Going back changes what is seen and never the plan; undo is apart from it.
class ViewHistory : public QObject {
    Q_OBJECT
public:
    struct Place {
        QString page;
        int tab = 0;
        std::optional<std::size_t> unit;
        friend bool operator==(const Place&, const Place&) = default;
    };
    static constexpr std::size_t kMostPlaces = 200;

    using QObject::QObject;

    /// The person is here now. Nothing while a place is being shown again.
    void record(const Place& place);
    void back();
    void forward();
    [[nodiscard]] bool canGoBack() const { return m_at > 0; }
    [[nodiscard]] bool canGoForward() const { return m_at + 1 < m_places.size(); }

signals:
    void shown(const loadline::ViewHistory::Place& place); ///< show this
    void changed();                                        ///< of what can be gone to

private:
    void show(std::size_t at);

    std::vector<Place> m_places;
    std::size_t m_at = 0;
    bool m_showing = false;
};

} // namespace loadline
