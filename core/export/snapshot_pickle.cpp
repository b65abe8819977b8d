// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/snapshot_pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace loadline {
namespace {

constexpr std::size_t kMostValues = 1U << 13U; ///< on the stack; Python puts a list together by the thousand
constexpr std::size_t kLongestWord = 32;
constexpr std::size_t kMostWords = 1U << 16U; ///< texts that are remembered by their number; a snapshot has a few dozen keys
constexpr std::size_t kBuffer = 1U << 16U;

using Word = SnapshotWord;

constexpr std::array<std::pair<std::string_view, Word>, 17> kWords{{
    {"segments", Word::Segments},
    {"device_traces", Word::DeviceTraces},
    {"action", Word::Action},
    {"size", Word::Size},
    {"time_us", Word::TimeUs},
    {"device", Word::Device},
    {"allocated_size", Word::AllocatedSize},
    {"total_size", Word::TotalSize},
    {"alloc", Word::Alloc},
    {"free_requested", Word::FreeRequested},
    {"free", Word::FreeRequested}, // before PyTorch 2.1
    {"free_completed", Word::FreeCompleted},
    {"segment_alloc", Word::SegmentAlloc},
    {"segment_free", Word::SegmentFree},
    {"segment_map", Word::SegmentMap},
    {"segment_unmap", Word::SegmentUnmap},
    {"oom", Word::OutOfMemory},
}};

Word wordOf(std::string_view text)
{
    const auto found = std::find_if(kWords.begin(), kWords.end(), [text](const auto& known) { return known.first == text; });
    return found == kWords.end() ? Word::Other : found->second;
}

enum class Kind : std::uint8_t { Mark, Opaque, Text, Whole, List, Entry };

struct Value {
    Kind kind = Kind::Opaque;
    std::int64_t number = 0; ///< of a text its word, of an entry its place among the entries
};

void set(SnapshotEntry& entry, const Value& key, const Value& value)
{
    if (key.kind != Kind::Text)
        return;
    const auto word = static_cast<Word>(key.number);
    if (word == Word::Action && value.kind == Kind::Text)
        entry.action = static_cast<Word>(value.number);
    if (value.kind != Kind::Whole)
        return;
    if (word == Word::Size)
        entry.size = value.number;
    else if (word == Word::TimeUs)
        entry.timeUs = value.number;
    else if (word == Word::Device)
        entry.device = value.number;
    else if (word == Word::AllocatedSize)
        entry.allocatedSize = value.number;
    else if (word == Word::TotalSize)
        entry.totalSize = value.number;
}

/// The bytes of the file, a buffer at a time.
class Bytestream {
public:
    explicit Bytestream(std::istream& in) : m_in(in), m_buffer(kBuffer) {}

    /// False at the end.
    bool next(std::uint8_t& byte)
    {
        if (m_at == m_end && !fill())
            return false;
        byte = static_cast<std::uint8_t>(m_buffer[m_at++]);
        return true;
    }
    bool little(std::size_t width, std::uint64_t& value)
    {
        value = 0;
        for (std::size_t i = 0; i < width; ++i) {
            std::uint8_t byte = 0;
            if (!next(byte))
                return false;
            value |= static_cast<std::uint64_t>(byte) << (8 * i);
        }
        return true;
    }
    /// The next bytes go into `text` if there are few, and are read over if not.
    bool words(std::uint64_t count, std::string& text)
    {
        text.clear();
        const bool keep = count <= kLongestWord;
        while (count > 0) {
            if (m_at == m_end && !fill())
                return false;
            const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(count, m_end - m_at));
            if (keep)
                text.append(m_buffer.data() + m_at, part);
            m_at += part;
            count -= part;
        }
        return true;
    }
    [[nodiscard]] std::uint64_t position() const { return m_before + m_at; }

private:
    bool fill()
    {
        m_before += m_end;
        m_at = m_end = 0;
        if (!m_in)
            return false;
        m_in.read(m_buffer.data(), static_cast<std::streamsize>(m_buffer.size()));
        m_end = static_cast<std::size_t>(m_in.gcount());
        return m_end > 0;
    }
    std::istream& m_in;
    std::vector<char> m_buffer;
    std::size_t m_at = 0;
    std::size_t m_end = 0;
    std::uint64_t m_before = 0;
};

class Machine {
public:
    Machine(std::istream& in, std::string_view origin, const SnapshotSink& sink) : m_bytes(in), m_origin(origin), m_sink(sink) {}

    std::optional<Error> run()
    {
        std::uint8_t first = 0;
        std::uint8_t protocol = 0;
        if (!m_bytes.next(first) || first != 0x80 || !m_bytes.next(protocol) || protocol < 2 || protocol > 5)
            return invalidInput(
                fmt::format("{}: not a memory snapshot of PyTorch; give the file that torch.cuda.memory._dump_snapshot wrote", m_origin));
        while (!m_done && !m_problem) {
            std::uint8_t code = 0;
            if (!m_bytes.next(code))
                return cutOff();
            if (!(scalar(code) || text(code) || memo(code) || structure(code)) && !m_problem)
                refuse(code);
            if (m_short)
                return cutOff();
            if (m_stack.size() > kMostValues)
                fail("more values are nested than a snapshot has");
        }
        if (!m_problem && !m_snapshot)
            fail("it has neither \"device_traces\" nor \"segments\"");
        return m_problem;
    }

private:
    void fail(std::string_view what)
    {
        if (!m_problem)
            m_problem = invalidInput(fmt::format("{}: {} (byte {}); give the file that torch.cuda.memory._dump_snapshot wrote", m_origin,
                                                 what, m_bytes.position()));
    }
    void refuse(std::uint8_t code)
    {
        fail(fmt::format("the pickle wants more than plain data (opcode 0x{:02x}), and nothing of it is executed", code));
    }
    [[nodiscard]] Error cutOff() const
    {
        return invalidInput(fmt::format("{}: cut off after {} bytes; write or copy the snapshot again", m_origin, m_bytes.position()));
    }
    std::uint64_t little(std::size_t width)
    {
        std::uint64_t value = 0;
        m_short = !m_bytes.little(width, value) || m_short;
        return value;
    }
    void push(Kind kind, std::int64_t number = 0) { m_stack.push_back({kind, number}); }

    bool scalar(std::uint8_t code)
    {
        switch (code) {
        case 'K': // BININT1
            push(Kind::Whole, static_cast<std::int64_t>(little(1)));
            return true;
        case 'M': // BININT2
            push(Kind::Whole, static_cast<std::int64_t>(little(2)));
            return true;
        case 'J': // BININT
            push(Kind::Whole, static_cast<std::int32_t>(static_cast<std::uint32_t>(little(4))));
            return true;
        case 0x8a: // LONG1
            longNumber(static_cast<std::size_t>(little(1)));
            return true;
        case 'G': // BINFLOAT
            little(8);
            push(Kind::Opaque);
            return true;
        case 'N':  // NONE
        case 0x88: // NEWTRUE
        case 0x89: // NEWFALSE
            push(Kind::Opaque);
            return true;
        default:
            return false;
        }
    }

    /// Two's complement of any length; what does not fit 64 bits is no size.
    void longNumber(std::size_t width)
    {
        const std::size_t kept = std::min<std::size_t>(width, 8);
        std::uint64_t value = little(kept);
        for (std::size_t i = kept; i < width; ++i)
            little(1);
        if (width > 8)
            return push(Kind::Opaque);
        if (width > 0 && width < 8 && (value >> (8 * width - 1)) != 0)
            value |= ~std::uint64_t{0} << (8 * width);
        push(Kind::Whole, static_cast<std::int64_t>(value));
    }

    bool text(std::uint8_t code)
    {
        const std::size_t width = code == 0x8c ? 1 : code == 'X' ? 4 : code == 0x8d ? 8 : 0; // (SHORT_)BINUNICODE(8)
        if (width == 0)
            return false;
        m_short = !m_bytes.words(little(width), m_text) || m_short;
        push(Kind::Text, static_cast<std::int64_t>(wordOf(m_text)));
        return true;
    }

    /// Only texts are asked for by their number in a snapshot; anything else that is comes back as a value without meaning.
    bool memo(std::uint8_t code)
    {
        switch (code) {
        case 0x94: // MEMOIZE
            remember(m_memoized++);
            return true;
        case 'q': // BINPUT
            remember(little(1));
            return true;
        case 'r': // LONG_BINPUT
            remember(little(4));
            return true;
        case 'h': // BINGET
            recall(little(1));
            return true;
        case 'j': // LONG_BINGET
            recall(little(4));
            return true;
        default:
            return false;
        }
    }
    void remember(std::uint64_t number)
    {
        if (m_stack.empty())
            return fail("a value is missing");
        const Value& top = m_stack.back();
        if (top.kind == Kind::Text && static_cast<Word>(top.number) != Word::Other && m_words.size() < kMostWords)
            m_words[number] = top;
    }
    void recall(std::uint64_t number)
    {
        const auto found = m_words.find(number);
        m_stack.push_back(found == m_words.end() ? Value{} : found->second);
    }

    bool structure(std::uint8_t code)
    {
        switch (code) {
        case 0x95: // FRAME
            little(8);
            return true;
        case '(': // MARK
            push(Kind::Mark);
            return true;
        case '}': // EMPTY_DICT
            push(Kind::Entry, static_cast<std::int64_t>(m_entries.size()));
            m_entries.emplace_back();
            return true;
        case ']': // EMPTY_LIST
            push(Kind::List);
            return true;
        case ')': // EMPTY_TUPLE
            push(Kind::Opaque);
            return true;
        case 0x85: // TUPLE1
        case 0x86: // TUPLE2
        case 0x87: // TUPLE3
            fold(code - 0x84U);
            return true;
        case 't': // TUPLE
            if (const auto mark = lastMark())
                cut(*mark), push(Kind::Opaque);
            return true;
        case 'a': // APPEND
            append(m_stack.empty() ? 0 : m_stack.size() - 1, 1);
            return true;
        case 'e': // APPENDS
            if (const auto mark = lastMark())
                append(*mark, 0);
            return true;
        case 's': // SETITEM
            assign(m_stack.size() < 2 ? 0 : m_stack.size() - 2, 1);
            return true;
        case 'u': // SETITEMS
            if (const auto mark = lastMark())
                assign(*mark, 0);
            return true;
        case '.': // STOP
            m_done = true;
            return true;
        default:
            return false;
        }
    }

    std::optional<std::size_t> lastMark()
    {
        for (std::size_t i = m_stack.size(); i-- > 0;)
            if (m_stack[i].kind == Kind::Mark)
                return i;
        fail("a mark is missing");
        return {};
    }
    /// Takes everything from `first` off the stack, and the entries among it off theirs: both grow and shrink together.
    void cut(std::size_t first)
    {
        for (std::size_t i = first; i < m_stack.size(); ++i)
            if (m_stack[i].kind == Kind::Entry) {
                m_entries.resize(std::min(m_entries.size(), static_cast<std::size_t>(m_stack[i].number)));
                break; // those after it lie above it
            }
        m_stack.resize(first);
    }
    void fold(std::size_t count)
    {
        if (m_stack.size() < count)
            return fail("a value is missing");
        cut(m_stack.size() - count);
        push(Kind::Opaque);
    }

    /// The list below `first` takes what follows it; `marks` 1: without a mark between them.
    void append(std::size_t first, std::size_t plain)
    {
        if (first == 0)
            return fail("a value is missing");
        const std::size_t list = first - 1;
        const auto device = traceAt(list);
        const bool segments = device ? false : keyOf(list) == Word::Segments;
        for (std::size_t i = plain != 0 ? first : first + 1; i < m_stack.size(); ++i) {
            if (m_stack[i].kind != Kind::Entry)
                continue;
            const SnapshotEntry& entry = m_entries[static_cast<std::size_t>(m_stack[i].number)];
            if (device)
                m_sink.event(*device, entry);
            else if (segments)
                m_sink.segment(entry);
        }
        cut(first);
    }
    void assign(std::size_t first, std::size_t plain)
    {
        if (first == 0)
            return fail("a value is missing");
        const std::size_t from = plain != 0 ? first : first + 1;
        if ((m_stack.size() - from) % 2 != 0)
            return fail("a value is missing");
        const Value target = m_stack[first - 1];
        for (std::size_t i = from; target.kind == Kind::Entry && i + 1 < m_stack.size(); i += 2) {
            set(m_entries[static_cast<std::size_t>(target.number)], m_stack[i], m_stack[i + 1]);
            if (first == 1 && m_stack[i].kind == Kind::Text && m_stack[i + 1].kind == Kind::List) {
                const auto word = static_cast<Word>(m_stack[i].number);
                m_snapshot = m_snapshot || word == Word::Segments || word == Word::DeviceTraces;
            }
        }
        cut(first);
    }

    /// The key in the outermost dictionary that the list at `at` is being put under.
    [[nodiscard]] Word keyOf(std::size_t at) const
    {
        if (at < 2 || m_stack[at].kind != Kind::List || m_stack[at - 1].kind != Kind::Text || m_stack[0].kind != Kind::Entry)
            return Word::Other;
        // Below the key: the dictionary itself, or its mark and the pairs that wait with it.
        for (std::size_t i = 1; i + 1 < at; ++i)
            if (i == 1 ? m_stack[i].kind != Kind::Mark : m_stack[i].kind == Kind::Mark)
                return Word::Other;
        return static_cast<Word>(m_stack[at - 1].number);
    }
    /// Which device's trace the list at `at` is: its place in the list under "device_traces".
    [[nodiscard]] std::optional<std::size_t> traceAt(std::size_t at) const
    {
        if (at < 3 || m_stack[at].kind != Kind::List)
            return {};
        std::size_t below = at - 1;
        while (below > 0 && m_stack[below].kind == Kind::List && m_stack[below - 1].kind != Kind::Text)
            --below;
        const std::size_t outer = m_stack[below].kind == Kind::Mark ? below - 1 : below;
        if (keyOf(outer) != Word::DeviceTraces)
            return {};
        return at - (m_stack[below].kind == Kind::Mark ? below : outer) - 1;
    }

    Bytestream m_bytes;
    std::string_view m_origin;
    const SnapshotSink& m_sink;
    std::vector<Value> m_stack;
    std::vector<SnapshotEntry> m_entries; ///< of the dictionaries on the stack, in the same order
    std::unordered_map<std::uint64_t, Value> m_words;
    std::uint64_t m_memoized = 0;
    std::string m_text;
    std::optional<Error> m_problem;
    bool m_short = false;
    bool m_done = false;
    bool m_snapshot = false;
};

} // namespace

std::optional<Error> readSnapshotPickle(std::istream& in, std::string_view origin, const SnapshotSink& sink)
{
    return Machine(in, origin, sink).run();
}

} // namespace loadline
