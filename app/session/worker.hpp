// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/exchange/worker.hpp"

#include <QByteArray>
#include <QObject>
#include <QStringList>

#include <optional>
#include <string>

class QProcess;
class QTimer;

namespace loadline {

/// How a worker ended.
struct WorkerEnd {
    enum class Kind {
        Done,
        Failed,       ///< it says why
        Cancelled,    ///< we asked
        Refused,      ///< wrong request
        Fault,        ///< a fault in loadline-device
        NoDevice,     ///< no such device here
        NotFound,     ///< the program is not installed, or does not start
        Died,         ///< ended by a signal, or without a word
        Silent,       ///< said nothing for too long and was ended
        Misunderstood ///< does not speak the protocol and was ended
    };
    Kind kind = Kind::Done;
    QString why; ///< one sentence, unless Done
};

/// One run of `loadline-device` (docs/protocol.md). Every call returns at once; what it says comes by signals on the thread that the
/// object lives on, and `ended` comes exactly once for each `start`. However the program behaves, this side neither waits nor grows.
class Worker : public QObject {
    Q_OBJECT
public:
    /// Milliseconds and bytes; tests shorten them.
    struct Limits {
        int silence = 180'000;             ///< without a line: then it is ended
        int grace = 5'000;                 ///< from SIGTERM to SIGKILL
        qint64 line = qint64{16} << 20;    ///< longest line
        qint64 words = qint64{256} << 10U; ///< most that is kept of a line on stderr
    };

    explicit Worker(QObject* parent = nullptr);
    ~Worker() override; ///< ends the program; waits for that, at most the grace time

    void setLimits(const Limits& limits) { m_limits = limits; }
    /// Starts VERB with `request` on stdin. Only when nothing runs.
    void start(const QString& verb, const std::string& request);
    /// SIGTERM, and SIGKILL if it does not listen. What it says until it has ended still comes.
    void cancel();

    [[nodiscard]] bool running() const { return m_process != nullptr; }
    /// The last lines that it wrote for people, oldest first; kept after the end.
    [[nodiscard]] const QStringList& lastWords() const { return m_words; }

    /// LOADLINE_DEVICE, else the program beside this one, else on the PATH; empty if there is none.
    static QString program();

signals:
    void eventRead(const loadline::WorkerEvent& event);
    void wordsRead(const QString& line); ///< a line of stderr
    void ended(const loadline::WorkerEnd& end);

private:
    void readEvents();
    void readWords();
    bool take(const QByteArray& line);
    void stop(WorkerEnd::Kind kind, const QString& why);
    void finish(int code, bool crashed);
    [[nodiscard]] WorkerEnd endOf(int code, bool crashed) const;
    void conclude(const WorkerEnd& end);

    Limits m_limits;
    QProcess* m_process = nullptr;
    QTimer* m_silence;
    QTimer* m_grace;
    QByteArray m_line;
    QByteArray m_wordLine;
    QStringList m_words;
    QString m_resultWhy;            ///< of the last "result" that was not done
    bool m_greeted = false;         ///< the first line was understood
    std::optional<WorkerEnd> m_end; ///< decided before the program has ended
};

} // namespace loadline
