// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/cost/footprint.hpp"
#include "core/model/reader.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace loadline::truth {

/// One line of a file measured with PyTorch (tests/data/truth), by column name.
class Row {
public:
    explicit Row(std::map<std::string, std::string> cells) : m_cells(std::move(cells)) {}

    /// Empty for a column that the file lacks.
    [[nodiscard]] std::string text(const std::string& column) const
    {
        const auto cell = m_cells.find(column);
        return cell == m_cells.end() ? std::string() : cell->second;
    }
    [[nodiscard]] std::optional<std::int64_t> number(const std::string& column) const
    {
        const std::string cell = text(column);
        return cell.empty() ? std::nullopt : std::optional<std::int64_t>(std::stoll(cell));
    }

private:
    std::map<std::string, std::string> m_cells;
};

/// Splits one line of comma-separated values; quoted cells may hold commas and doubled quotes.
inline std::vector<std::string> cells(const std::string& line)
{
    std::vector<std::string> found(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            found.back() += line[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            found.emplace_back();
        else if (c != '\r')
            found.back() += c;
    }
    return found;
}

inline std::vector<Row> rows(const std::string& file)
{
    std::ifstream in(std::string(LOADLINE_SOURCE_DIR "/tests/data/truth/") + file);
    std::string line;
    std::getline(in, line);
    const auto names = cells(line);
    std::vector<Row> all;
    while (std::getline(in, line)) {
        const auto values = cells(line);
        std::map<std::string, std::string> row;
        for (std::size_t i = 0; i < names.size(); ++i)
            row[names[i]] = i < values.size() ? values[i] : "";
        all.emplace_back(std::move(row));
    }
    return all;
}

/// The model that a row was measured with: tests/data/models/`file` under the row's class, which decides the head. Read once.
inline const Result<Model>& model(const Row& row)
{
    static std::map<std::string, Result<Model>> read;
    const std::string file = row.text("file");
    const auto found = read.find(file);
    if (found != read.end())
        return found->second;
    std::ifstream in(LOADLINE_SOURCE_DIR "/tests/data/models/" + file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    static const std::regex classes("\"architectures\"\\s*:\\s*\\[[^\\]]*\\]");
    const auto asMeasured = std::regex_replace(text.str(), classes, "\"architectures\": [\"" + row.text("class") + "\"]");
    return read.emplace(file, readModel(asMeasured, "'" + file + "'")).first->second;
}

/// The settings that a row of activations.csv was measured with.
inline ActivationSettings settings(const Row& row)
{
    ActivationSettings settings;
    settings.batch = *row.number("batch");
    settings.sequence = *row.number("seq");
    const std::string mode = row.text("dtype_mode");
    settings.compute = mode == "fp32" ? ComputeMode::Fp32 : mode == "bf16" ? ComputeMode::Bf16 : ComputeMode::AutocastBf16;
    if (row.text("attention") == "eager")
        settings.attention = AttentionKind::Eager;
    else if (row.text("note").starts_with("variant: mem-efficient"))
        settings.attention = AttentionKind::Efficient;
    if (row.text("dropout") == "0")
        settings.dropout = 0;
    return settings;
}

} // namespace loadline::truth
