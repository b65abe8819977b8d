// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>

namespace loadline {
namespace {

constexpr std::size_t kMostDepth = 64;

std::size_t lineOf(std::string_view text, std::size_t offset)
{
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(offset, text.size()));
    return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// Replaces the bare words NaN and Infinity outside strings by null; lines stay where they are.
std::string withoutBareWords(std::string_view text)
{
    std::string out(text);
    bool inString = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (inString) {
            if (out[i] == '\\')
                ++i;
            else if (out[i] == '"')
                inString = false;
            continue;
        }
        if (out[i] == '"') {
            inString = true;
            continue;
        }
        for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
            if (std::string_view(out).substr(i, word.size()) != word)
                continue;
            // "NaN" is one letter shorter than "null": then the text grows by one, on the same line.
            std::string replacement(std::max<std::size_t>(word.size(), 4), ' ');
            replacement.replace(0, 4, "null");
            out.replace(i, word.size(), replacement);
            i += replacement.size() - 1;
            break;
        }
    }
    return out;
}

/// Builds the document through nlohmann's own builder and refuses what it would let pass.
class StrictBuilder : public nlohmann::json_sax<Json> {
public:
    explicit StrictBuilder(Json& root) : m_builder(root, false) {}

    bool null() override { return m_builder.null(); }
    bool boolean(bool value) override { return m_builder.boolean(value); }
    bool number_integer(number_integer_t value) override { return m_builder.number_integer(value); }
    bool number_unsigned(number_unsigned_t value) override
    {
        // 2^63 and more cannot be a count of anything here; as a double it fails later checks by its size.
        if (value > static_cast<number_unsigned_t>(INT64_MAX))
            return m_builder.number_float(static_cast<double>(value), {});
        return m_builder.number_unsigned(value);
    }
    bool number_float(number_float_t value, const string_t& text) override { return m_builder.number_float(value, text); }
    bool string(string_t& value) override { return m_builder.string(value); }
    bool binary(binary_t& value) override { return m_builder.binary(value); }
    bool start_object(std::size_t size) override
    {
        m_keys.emplace_back();
        return enter() && m_builder.start_object(size);
    }
    bool key(string_t& value) override
    {
        if (!m_keys.back().insert(value).second) {
            m_problem = fmt::format("has the key '{}' twice in one object; keep one of them", value);
            return false;
        }
        return m_builder.key(value);
    }
    bool end_object() override
    {
        m_keys.pop_back();
        --m_depth;
        return m_builder.end_object();
    }
    bool start_array(std::size_t size) override { return enter() && m_builder.start_array(size); }
    bool end_array() override
    {
        --m_depth;
        return m_builder.end_array();
    }
    bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception&) override
    {
        m_position = position;
        if (m_problem.empty()) {
            const auto shown = token.size() > 40 ? token.substr(token.size() - 40) : token;
            m_problem = fmt::format("is not valid JSON near '{}'; mend the file", printable(shown));
        }
        return false;
    }

    [[nodiscard]] const std::string& problem() const { return m_problem; }
    [[nodiscard]] std::size_t position() const { return m_position; }

private:
    bool enter()
    {
        if (++m_depth <= kMostDepth)
            return true;
        m_problem = fmt::format("is nested deeper than {} levels; flatten it", kMostDepth);
        return false;
    }
    static std::string printable(std::string text)
    {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126; },
            '?');
        return text;
    }

    nlohmann::detail::json_sax_dom_parser<Json> m_builder;
    std::vector<std::set<std::string>> m_keys;
    std::size_t m_depth = 0;
    std::size_t m_position = 0;
    std::string m_problem;
};

} // namespace

Result<Json> parseJson(std::string_view text, std::string_view origin, JsonDialect dialect)
{
    std::string replaced;
    if (dialect == JsonDialect::Python && (text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos)) {
        replaced = withoutBareWords(text);
        text = replaced;
    }
    Json root;
    StrictBuilder builder(root);
    if (Json::sax_parse(text.begin(), text.end(), &builder))
        return root;
    if (builder.position() == 0) // refused by our own rules: the library gives no position
        return invalidInput(fmt::format("{} {}", origin, builder.problem()));
    return invalidInput(fmt::format("{}, line {}: {}", origin, lineOf(text, builder.position()), builder.problem()));
}

Result<std::string> readFile(const std::filesystem::path& path, std::int64_t most)
{
    std::error_code code;
    if (std::filesystem::is_directory(path, code))
        return ioError(fmt::format("'{}' is a folder; give a file", path.string()));
    std::ifstream in(path, std::ios::binary);
    if (!in)
        return ioError(fmt::format("'{}' cannot be opened ({}); check the path and its permissions", path.string(), std::strerror(errno)));
    std::string text;
    std::string block(1 << 16, '\0');
    while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
        text.append(block.data(), static_cast<std::size_t>(in.gcount()));
        if (static_cast<std::int64_t>(text.size()) > most)
            return invalidInput(fmt::format("'{}' is larger than {} bytes; it is not the kind of file expected here", path.string(), most));
    }
    if (in.bad())
        return ioError(fmt::format("'{}' cannot be read; check the device it lies on", path.string()));
    return text;
}

Result<bool> writeFile(const std::filesystem::path& path, std::string_view text)
{
    auto beside = path;
    beside += ".part";
    {
        std::ofstream out(beside, std::ios::binary | std::ios::trunc);
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        out.flush();
        if (!out) {
            const std::string reason = std::strerror(errno);
            std::error_code ignored;
            std::filesystem::remove(beside, ignored);
            return ioError(fmt::format("'{}' cannot be written ({}); choose another place", path.string(), reason));
        }
    }
    std::error_code code;
    std::filesystem::rename(beside, path, code);
    if (code)
        return ioError(fmt::format("'{}' cannot be replaced ({}); choose another place", path.string(), code.message()));
    return true;
}

} // namespace loadline
