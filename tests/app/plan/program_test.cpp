// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the real program; the helpers of every test in this folder.
#include "tests/app/plan/program.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace loadline::test {

std::string readAll(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

Folder::Folder()
{
    auto pattern = (std::filesystem::temp_directory_path() / "loadline-plan-test-XXXXXX").string();
    m_path = mkdtemp(pattern.data());
}

Folder::~Folder()
{
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

std::string Folder::write(const std::string& name, const std::string& text) const
{
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
}

Run runPlanner(const std::vector<std::string>& arguments)
{
    const Folder folder;
    const auto out = folder.file("out");
    const auto err = folder.file("err");
    std::vector<std::string> words{LOADLINE_BIN_DIR "/loadline-plan"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const auto open = [](const std::string& path, int flags, int target) { dup2(::open(path.c_str(), flags, 0600), target); };
        open("/dev/null", O_RDONLY, 0);
        open(out, O_CREAT | O_WRONLY, 1);
        open(err, O_CREAT | O_WRONLY, 2);
        execv(argv.front(), argv.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, readAll(out), readAll(err)};
}

std::string dataFile(const std::string& name)
{
    return std::string(LOADLINE_SOURCE_DIR "/tests/data/") + name;
}

bool isOneLine(const std::string& text)
{
    return text.size() > 1 && text.back() == '\n' && std::count(text.begin(), text.end(), '\n') == 1;
}

std::size_t widestLine(const std::string& text)
{
    std::size_t widest = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        widest = std::max(widest, line.size());
    return widest;
}

} // namespace loadline::test
