// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/store/fault_files.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>

namespace loadline::test {
namespace {

/// Memory that the write-ahead log's index is shared in; one connection, so locks always succeed.
struct OpenFile {
    sqlite3_file base; // must be first
    FaultFiles* world;
    FaultFiles::FilePtr* file;
    std::vector<std::unique_ptr<char[]>>* shared;
};

OpenFile* self(sqlite3_file* file)
{
    return reinterpret_cast<OpenFile*>(file);
}

void applyWrite(std::string& content, const FaultFiles::Write& write)
{
    if (write.truncate >= 0) {
        content.resize(static_cast<std::size_t>(write.truncate));
        return;
    }
    const auto offset = static_cast<std::size_t>(write.offset);
    if (content.size() < offset + write.bytes.size())
        content.resize(offset + write.bytes.size());
    content.replace(offset, write.bytes.size(), write.bytes);
}

int closeFile(sqlite3_file* file)
{
    delete self(file)->file;
    delete self(file)->shared;
    return SQLITE_OK;
}

int readFile(sqlite3_file* file, void* buffer, int size, sqlite3_int64 offset)
{
    if (const int code = self(file)->world->before(FaultFiles::Call::Read))
        return code;
    const auto& live = (*self(file)->file)->live;
    const auto start = std::min(static_cast<std::size_t>(offset), live.size());
    const auto there = std::min(static_cast<std::size_t>(size), live.size() - start);
    std::memcpy(buffer, live.data() + start, there);
    if (there == static_cast<std::size_t>(size))
        return SQLITE_OK;
    std::memset(static_cast<char*>(buffer) + there, 0, static_cast<std::size_t>(size) - there);
    return SQLITE_IOERR_SHORT_READ;
}

int writeFile(sqlite3_file* file, const void* buffer, int size, sqlite3_int64 offset)
{
    auto& world = *self(file)->world;
    FaultFiles::Write write{offset, std::string(static_cast<const char*>(buffer), static_cast<std::size_t>(size)), -1};
    const int code = world.before(FaultFiles::Call::Write);
    if (code != SQLITE_OK && !world.isShortWrite())
        return code;
    if (code != SQLITE_OK)
        write.bytes.resize(write.bytes.size() / 2);
    applyWrite((*self(file)->file)->live, write);
    (*self(file)->file)->pending.push_back(std::move(write));
    return code;
}

int truncateFile(sqlite3_file* file, sqlite3_int64 size)
{
    if (const int code = self(file)->world->before(FaultFiles::Call::Write))
        return code;
    const FaultFiles::Write write{0, {}, size};
    applyWrite((*self(file)->file)->live, write);
    (*self(file)->file)->pending.push_back(write);
    return SQLITE_OK;
}

int syncFile(sqlite3_file* file, int /*flags*/)
{
    if (const int code = self(file)->world->before(FaultFiles::Call::Sync))
        return code;
    auto& content = **self(file)->file;
    content.synced = content.live;
    content.pending.clear();
    return SQLITE_OK;
}

int fileSize(sqlite3_file* file, sqlite3_int64* size)
{
    if (const int code = self(file)->world->before(FaultFiles::Call::Other))
        return code;
    *size = static_cast<sqlite3_int64>((*self(file)->file)->live.size());
    return SQLITE_OK;
}

int lockFile(sqlite3_file*, int)
{
    return SQLITE_OK;
}
int checkLock(sqlite3_file*, int* taken)
{
    *taken = 0;
    return SQLITE_OK;
}
int control(sqlite3_file*, int, void*)
{
    return SQLITE_NOTFOUND;
}
int sectorSize(sqlite3_file*)
{
    return 512;
}
int characteristics(sqlite3_file*)
{
    return 0; // promises nothing: no atomic writes, no safe append, no overwrite that spares its neighbours
}

int mapShared(sqlite3_file* file, int region, int size, int extend, void volatile** where)
{
    auto& shared = *self(file)->shared;
    *where = nullptr;
    if (const int code = self(file)->world->before(FaultFiles::Call::Other))
        return code;
    const auto index = static_cast<std::size_t>(region);
    if (index >= shared.size() && extend == 0)
        return SQLITE_OK;
    while (shared.size() <= index) {
        shared.push_back(std::make_unique<char[]>(static_cast<std::size_t>(size)));
        std::memset(shared.back().get(), 0, static_cast<std::size_t>(size));
    }
    *where = shared[index].get();
    return SQLITE_OK;
}
int lockShared(sqlite3_file*, int, int, int)
{
    return SQLITE_OK;
}
void barrier(sqlite3_file*) {}
int unmapShared(sqlite3_file* file, int)
{
    self(file)->shared->clear();
    return SQLITE_OK;
}

const sqlite3_io_methods kMethods{2,          closeFile, readFile,    writeFile, truncateFile, syncFile,        fileSize,
                                  lockFile,   lockFile,  checkLock,   control,   sectorSize,   characteristics, mapShared,
                                  lockShared, barrier,   unmapShared, nullptr,   nullptr};

FaultFiles& worldOf(sqlite3_vfs* vfs)
{
    return *static_cast<FaultFiles*>(vfs->pAppData);
}

int openFile(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* outFlags)
{
    auto& world = worldOf(vfs);
    file->pMethods = nullptr;
    if (const int code = world.before(FaultFiles::Call::Open))
        return code;
    const std::string key = name == nullptr ? "temporary" : name;
    auto& content = world.files[key];
    if (!content) {
        if ((flags & SQLITE_OPEN_CREATE) == 0) {
            world.files.erase(key);
            return SQLITE_CANTOPEN;
        }
        content = std::make_shared<FaultFiles::File>();
    }
    auto* opened = self(file);
    opened->world = &world;
    opened->file = new FaultFiles::FilePtr(content);
    opened->shared = new std::vector<std::unique_ptr<char[]>>();
    file->pMethods = &kMethods;
    if (outFlags != nullptr)
        *outFlags = flags;
    return SQLITE_OK;
}

int deleteFile(sqlite3_vfs* vfs, const char* name, int /*syncFolder*/)
{
    if (const int code = worldOf(vfs).before(FaultFiles::Call::Other))
        return code;
    return worldOf(vfs).files.erase(name) > 0 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

int accessFile(sqlite3_vfs* vfs, const char* name, int, int* result)
{
    if (const int code = worldOf(vfs).before(FaultFiles::Call::Other))
        return code;
    const auto found = worldOf(vfs).files.find(name);
    *result = found != worldOf(vfs).files.end() && !found->second->live.empty() ? 1 : 0;
    return SQLITE_OK;
}

int fullName(sqlite3_vfs*, const char* name, int size, char* out)
{
    sqlite3_snprintf(size, out, "%s", name);
    return SQLITE_OK;
}

int randomness(sqlite3_vfs*, int size, char* out)
{
    for (int i = 0; i < size; ++i)
        out[i] = static_cast<char>(i * 37 + 11);
    return size;
}
int sleepFor(sqlite3_vfs*, int microseconds)
{
    return microseconds;
}
int currentTime(sqlite3_vfs*, double* days)
{
    *days = 2460000.5;
    return SQLITE_OK;
}
int lastErrorOf(sqlite3_vfs*, int, char*)
{
    return 0;
}

} // namespace

struct FaultFiles::Table {
    sqlite3_vfs vfs{};
};

FaultFiles::FaultFiles() : m_table(std::make_unique<Table>())
{
    auto& vfs = m_table->vfs;
    vfs.iVersion = 1;
    vfs.szOsFile = sizeof(OpenFile);
    vfs.mxPathname = 512;
    vfs.zName = "loadline-faults";
    vfs.pAppData = this;
    vfs.xOpen = openFile;
    vfs.xDelete = deleteFile;
    vfs.xAccess = accessFile;
    vfs.xFullPathname = fullName;
    vfs.xRandomness = randomness;
    vfs.xSleep = sleepFor;
    vfs.xCurrentTime = currentTime;
    vfs.xGetLastError = lastErrorOf;
    sqlite3_vfs_register(&vfs, 0);
}

FaultFiles::~FaultFiles()
{
    sqlite3_vfs_unregister(&m_table->vfs);
}

const char* FaultFiles::name() const
{
    return m_table->vfs.zName;
}

void FaultFiles::failAt(std::int64_t nth, Fault fault, bool lasting)
{
    m_fault = fault;
    m_at = nth;
    m_lasting = lasting;
    m_calls = 0;
    m_failures = 0;
}

void FaultFiles::heal()
{
    m_fault = Fault::None;
    m_failures = 0;
    m_calls = 0;
}

void FaultFiles::dieAt(std::int64_t nth)
{
    m_deathAt = nth;
    m_dead = false;
    m_calls = 0;
}

int FaultFiles::before(Call call)
{
    static constexpr auto concerns = [](Fault fault, Call which) {
        switch (fault) {
        case Fault::ReadError:
            return which == Call::Read;
        case Fault::WriteError:
        case Fault::ShortWrite:
        case Fault::DiskFull:
            return which == Call::Write;
        case Fault::SyncError:
            return which == Call::Sync;
        case Fault::OpenError:
            return which == Call::Open;
        case Fault::AnyError:
            return true;
        case Fault::None:
            return true;
        }
        return false;
    };
    if (concerns(m_fault, call))
        ++m_calls;
    if (m_deathAt > 0 && m_calls >= m_deathAt)
        m_dead = true;
    if (m_dead)
        return SQLITE_IOERR;
    if (m_fault == Fault::None || !concerns(m_fault, call) || (m_lasting ? m_calls < m_at : m_calls != m_at))
        return SQLITE_OK;
    ++m_failures;
    switch (call) {
    case Call::Read:
        return SQLITE_IOERR_READ;
    case Call::Write:
        return m_fault == Fault::DiskFull || m_fault == Fault::ShortWrite ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    case Call::Sync:
        return SQLITE_IOERR_FSYNC;
    case Call::Open:
        return SQLITE_CANTOPEN;
    case Call::Other:
        return SQLITE_IOERR;
    }
    return SQLITE_IOERR;
}

void FaultFiles::restart(std::mt19937& random)
{
    for (auto& [name, file] : files) {
        std::string content = file->synced;
        for (auto write : file->pending) {
            switch (random() % 4) {
            case 0:
                applyWrite(content, write);
                break;
            case 1:
                break; // never reached the disk
            case 2:    // the first sectors did
                if (write.truncate < 0)
                    write.bytes.resize(std::min(write.bytes.size(), std::size_t{512} * (random() % 8)));
                applyWrite(content, write);
                break;
            default:
                for (auto& byte : write.bytes)
                    byte = static_cast<char>(random());
                if (write.truncate < 0)
                    applyWrite(content, write);
                break;
            }
        }
        *file = {content, content, {}};
    }
    m_deathAt = 0;
    m_dead = false;
    heal();
}

} // namespace loadline::test
