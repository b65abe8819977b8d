// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace loadline::test {

/// What a run of the real loadline-plan left behind.
struct Run {
    int code = -1; ///< exit code; -1: killed by a signal
    std::string out;
    std::string err;
};

/// Runs loadline-plan with these arguments, stdin empty, in a folder of its own, and waits for its end.
Run runPlanner(const std::vector<std::string>& arguments);

/// A folder that is there for one test.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return (m_path / name).string(); }
    /// Writes a file into it and returns its path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;

private:
    std::filesystem::path m_path;
};

std::string readAll(const std::string& path);
std::string dataFile(const std::string& name); ///< below tests/data

/// True if `text` is one line that ends, which is how every wrong input is answered.
bool isOneLine(const std::string& text);

/// The most columns of any line.
std::size_t widestLine(const std::string& text);

} // namespace loadline::test
