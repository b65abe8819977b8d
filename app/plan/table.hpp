// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace loadline {

inline constexpr std::size_t kPageWidth = 100; ///< columns of a terminal that every table fits

/// Text in columns. The first column gives way when a row is wider than the page: long names lose their middle.
class TextTable {
public:
    enum class Align { Left, Right };
    struct Column {
        std::string title;
        Align align = Align::Left;
    };

    explicit TextTable(std::vector<Column> columns) : m_columns(std::move(columns)) {}
    void add(std::vector<std::string> row) { m_rows.push_back(std::move(row)); }
    [[nodiscard]] std::string text(std::string_view indent = "  ") const;
    [[nodiscard]] bool empty() const { return m_rows.empty(); }

private:
    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

/// Breaks a paragraph at spaces so that no line is wider than the page; following lines stand under the first.
std::string wrapped(std::string_view paragraph, std::string_view indent);

} // namespace loadline
