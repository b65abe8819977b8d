// SPDX-License-Identifier: GPL-3.0-or-later
// The dependency matrix as a test: which folder may include and link what. A new arrow is a decision, made here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = LOADLINE_SOURCE_DIR;
using Names = std::set<std::string>;

struct Room {
    Names folders;  ///< own folders it may include and link, itself apart
    Names families; ///< kinds of foreign headers and libraries, see familyOf()
};

Names operator+(Names a, const Names& b)
{
    a.insert(b.begin(), b.end());
    return a;
}

const Names kCost{"core/base", "core/model", "core/cluster", "core/cost"};
const Names kCore = kCost + Names{"core/plan", "core/exchange"};
const Names kText{"json", "fmt"};
const Names kTorch = kText + Names{"torch", "cuda", "threads", "files", "clock", "stdout"};

const std::map<std::string, Room> kMatrix{
    {"core/base", {{}, kText + Names{"files"}}},
    {"core/model", {{"core/base"}, kText}},
    {"core/cluster", {{"core/base"}, kText}},
    {"core/cost", {kCost, kText}},
    {"core/plan", {kCost, kText}},
    {"core/exchange", {kCore, kText}},
    {"core/store", {{"core/base"}, kText + Names{"sql"}}},
    {"core/export", {kCore, kText}},
    {"profiler/device", {kCore, kTorch}},
    {"profiler/cuda", {kCore + Names{"profiler/device"}, kTorch}},
    {"profiler/model", {kCost, kTorch}},
    {"profiler/train", {kCore + Names{"profiler/device", "profiler/model"}, kTorch}},
    {"profiler/measure", {kCore + Names{"profiler/device", "profiler/model", "profiler/train"}, kTorch}},
    {"profiler/program", {kCore + Names{"profiler/device", "profiler/model", "profiler/train", "profiler/measure"}, kTorch}},
    {"app/config", {kCore, kText + Names{"yaml", "toml"}}},
    {"app/plan", {kCore + Names{"core/export", "core/store", "app/config"}, kText + Names{"cli", "stdout", "files", "clock"}}},
    {"views", {kCost + Names{"core/plan", "core/exchange"}, {"qt", "widgets", "fmt"}}},
    {"app/session", {kCore + Names{"core/store"}, kText + Names{"qt", "threads", "files", "clock"}}},
    {"app/window",
     {kCore + Names{"core/export", "core/store", "views", "app/session"}, {"qt", "widgets", "stdout", "fmt", "files", "clock"}}},
};

/// The family of a foreign header, empty for one that everybody may include.
std::string familyOf(const std::string& header)
{
    static const std::vector<std::pair<std::regex, std::string>> kFamilies{
        {std::regex(
             "^(QThread|QtConcurrent.*|QThreadPool|QRunnable|QMutex|QWaitCondition|thread|mutex|future|condition_variable|semaphore)$"),
         "threads"},
        {std::regex("^(QFile|QSaveFile|QDir|QProcess|QSettings|QTemporary.*|fstream)$"), "files"},
        {std::regex("^(QSql.*|sqlite3\\.h)$"), "sql"},
        {std::regex("^(iostream|cstdio|stdio\\.h)$"), "stdout"},
        {std::regex("^(chrono|ctime)$"), "clock"},
        {std::regex("^(QObject|QString.*|QList|QVector|QVariant|QTimer|QCoreApplication|QPointer|QHash|QElapsedTimer|QMetaObject|QUndo.*|"
                    "QtGlobal|QLocale|QSharedPointer|QCache|QDateTime|QMargins|QByteArray|QEvent|QMimeData|QUrl|QFileInfo|QStandardPaths|"
                    "QAbstract.*Model|QModelIndex|QSortFilterProxyModel|QIdentityProxyModel|QtMath|QChar|QMap|QSet)$"),
         "qt"},
        {std::regex("^(Q[A-Za-z]|qcustomplot)"), "widgets"},
        {std::regex("^(torch/|ATen/|c10/|c10d)"), "torch"},
        {std::regex("^(cuda|nccl|nvml|cublas)"), "cuda"},
        {std::regex("^nlohmann/"), "json"},
        {std::regex("^fmt/"), "fmt"},
        {std::regex("^CLI/"), "cli"},
        {std::regex("^yaml-cpp/"), "yaml"},
        {std::regex("^toml\\+\\+/"), "toml"},
        {std::regex("^(gtest|gmock|benchmark)/"), "test"},
    };
    for (const auto& [pattern, family] : kFamilies)
        if (std::regex_search(header, pattern))
            return family;
    return {};
}

/// The family of a foreign link target.
std::string linkFamilyOf(const std::string& target)
{
    static const std::vector<std::pair<std::regex, std::string>> kFamilies{
        {std::regex("^Qt6::Core$"), "qt"},      {std::regex("^(Qt6::|QCustomPlot)"), "widgets"},
        {std::regex("^nlohmann_json"), "json"}, {std::regex("^fmt::"), "fmt"},
        {std::regex("^CLI11::"), "cli"},        {std::regex("^yaml-cpp"), "yaml"},
        {std::regex("^tomlplusplus"), "toml"},  {std::regex("^SQLite"), "sql"},
        {std::regex("^Threads::"), "threads"},  {std::regex("^(torch|c10|Torch)"), "torch"},
        {std::regex("^(CUDA|NCCL)"), "cuda"},
    };
    for (const auto& [pattern, family] : kFamilies)
        if (std::regex_search(target, pattern))
            return family;
    return {};
}

/// The room that a file lies in: the longest folder of the matrix that its path begins with.
std::string roomOf(const fs::path& relative)
{
    std::string best;
    for (const auto& [folder, room] : kMatrix)
        if (relative.generic_string().starts_with(folder + "/") && folder.size() > best.size())
            best = folder;
    return best;
}

std::vector<fs::path> filesUnder(const std::vector<std::string>& tops, const std::set<std::string>& endings)
{
    std::vector<fs::path> files;
    for (const auto& top : tops)
        for (const auto& entry : fs::recursive_directory_iterator(kRoot / top))
            if (entry.is_regular_file() &&
                (endings.contains(entry.path().extension().string()) || endings.contains(entry.path().filename().string())))
                files.push_back(fs::relative(entry.path(), kRoot));
    return files;
}

const std::vector<std::string> kProduct{"core", "views", "app", "profiler"};
const std::set<std::string> kSources{".cpp", ".hpp"};

std::string contents(const fs::path& relative)
{
    std::ifstream in(kRoot / relative);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// What is wrong with one include of a file in `room`; empty when allowed.
std::string includeProblem(const std::string& room, const std::string& header, bool quoted)
{
    if (quoted) {
        const std::string target = roomOf(header);
        if (target.empty())
            return "'" + header + "' lies in no room of the matrix";
        if (target != room && !kMatrix.at(room).folders.contains(target))
            return room + " may not include " + target;
        return {};
    }
    const std::string family = familyOf(header);
    if (!family.empty() && !kMatrix.at(room).families.contains(family))
        return room + " may not use <" + header + "> (" + family + ")";
    return {};
}

TEST(Layering, EveryIncludeIsAnAllowedArrow)
{
    const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
    std::size_t seen = 0;
    for (const auto& file : filesUnder(kProduct, kSources)) {
        const std::string room = roomOf(file);
        ASSERT_FALSE(room.empty()) << file << " lies in no room of the matrix";
        std::istringstream in(contents(file));
        int number = 0;
        for (std::string line; ++number, std::getline(in, line);) {
            std::smatch match;
            if (!std::regex_search(line, match, include))
                continue;
            ++seen;
            const std::string problem = includeProblem(room, match[2], match[1] == "\"");
            EXPECT_TRUE(problem.empty()) << file.string() << ':' << number << ": " << problem;
        }
    }
    EXPECT_GT(seen, 100U); // the search itself must find something
}

TEST(Layering, EveryLinkLineIsAnAllowedArrow)
{
    const std::regex target(R"((loadline::\w+|[A-Za-z0-9_+-]+::[A-Za-z0-9_+-]+))");
    const std::map<std::string, std::string> folders{
        {"base", "core/base"},       {"model", "core/model"},         {"cluster", "core/cluster"},
        {"cost", "core/cost"},       {"plan", "core/plan"},           {"exchange", "core/exchange"},
        {"store", "core/store"},     {"export", "core/export"},       {"config", "app/config"},
        {"views", "views"},          {"session", "app/session"},      {"window", "app/window"},
        {"terminal", "app/plan"},    {"device", "profiler/device"},   {"network", "profiler/model"},
        {"train", "profiler/train"}, {"measure", "profiler/measure"},
    };
    for (const auto& file : filesUnder(kProduct, {"CMakeLists.txt"})) {
        const std::string room = roomOf(file);
        if (room.empty())
            continue; // core/ and app/ themselves only descend
        const std::string text = contents(file);
        for (auto match = std::sregex_iterator(text.begin(), text.end(), target); match != std::sregex_iterator(); ++match) {
            const std::string name = match->str();
            if (name == "loadline::flags")
                continue;
            if (name == "loadline::torch" || name == "loadline::torch_cuda") { // packaging/cmake/torch.cmake
                EXPECT_TRUE(kMatrix.at(room).families.contains("torch")) << room << " may not link " << name;
                continue;
            }
            if (name.starts_with("loadline::")) {
                const auto folder = folders.find(name.substr(10));
                ASSERT_NE(folder, folders.end()) << file << ": unknown target " << name;
                EXPECT_TRUE(folder->second == room || kMatrix.at(room).folders.contains(folder->second))
                    << room << " may not link " << name;
                continue;
            }
            const std::string family = linkFamilyOf(name);
            EXPECT_TRUE(!family.empty() && kMatrix.at(room).families.contains(family)) << room << " may not link " << name;
        }
    }
}

TEST(Layering, ForbiddenArrowsAreSeen)
{
    EXPECT_NE(includeProblem("core/cost", "QString", false), "");
    EXPECT_NE(includeProblem("core/base", "core/model/description.hpp", true), "");
    EXPECT_NE(includeProblem("views", "thread", false), "");
    EXPECT_NE(includeProblem("core/plan", "sqlite3.h", false), "");
    EXPECT_NE(includeProblem("app/window", "torch/torch.h", false), "");
    EXPECT_EQ(includeProblem("core/cost", "vector", false), "");
    EXPECT_EQ(includeProblem("core/cost", "core/base/units.hpp", true), "");
}

TEST(House, EveryFileNamesItsLicenceAndIsShort)
{
    for (const auto& file : filesUnder({"core", "views", "app", "profiler", "tests"}, kSources)) {
        const std::string text = contents(file);
        EXPECT_TRUE(text.starts_with("// SPDX-License-Identifier: GPL-3.0-or-later\n")) << file;
        EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 600) << file << " would not be finished in one sitting";
    }
}

TEST(House, EveryFolderSaysWhatItsFilesAreFor)
{
    for (const auto& file : filesUnder(kProduct, kSources)) {
        const fs::path readme = file.parent_path() / "README.md";
        ASSERT_TRUE(fs::exists(kRoot / readme)) << readme << " is missing";
        EXPECT_NE(contents(readme).find(file.stem().string()), std::string::npos) << readme << " has no line for " << file.filename();
    }
}

} // namespace
