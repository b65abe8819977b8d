// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/worker.hpp"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QTimer>

#include <csignal>
#include <cstring>
#include <sys/prctl.h>

namespace loadline {
namespace {

constexpr qsizetype kWords = 200; ///< lines of stderr that are kept

const QString kName = QStringLiteral("loadline-device");

QString shortened(const QByteArray& line)
{
    constexpr qsizetype kShown = 80;
    QString text = QString::fromUtf8(line.left(kShown)).simplified();
    text.remove(QChar::Null);
    return line.size() > kShown ? text + QChar(0x2026) : text;
}

} // namespace

Worker::Worker(QObject* parent) : QObject(parent), m_silence(new QTimer(this)), m_grace(new QTimer(this))
{
    m_silence->setSingleShot(true);
    m_grace->setSingleShot(true);
    connect(m_silence, &QTimer::timeout, this, [this] {
        stop(WorkerEnd::Kind::Silent, tr("%1 said nothing for %2 seconds and was ended; what it had measured is kept")
                                          .arg(kName)
                                          .arg((m_limits.silence + 999) / 1000));
    });
    connect(m_grace, &QTimer::timeout, this, [this] {
        if (m_process != nullptr)
            m_process->kill();
    });
}

Worker::~Worker()
{
    if (m_process == nullptr)
        return;
    m_process->disconnect(this);
    m_process->terminate(); // so that it ends its ranks itself
    if (!m_process->waitForFinished(m_limits.grace)) {
        m_process->kill();
        m_process->waitForFinished(m_limits.grace);
    }
}

QString Worker::program()
{
    QString named = qEnvironmentVariable("LOADLINE_DEVICE");
    if (!named.isEmpty())
        return named;
    const QString beside = QDir(QCoreApplication::applicationDirPath()).filePath(kName);
    return QFileInfo(beside).isExecutable() ? beside : QStandardPaths::findExecutable(kName);
}

void Worker::start(const QString& verb, const std::string& request)
{
    if (running())
        return;
    m_line.clear();
    m_wordLine.clear();
    m_words.clear();
    m_resultWhy.clear();
    m_greeted = false;
    m_end.reset();
    m_process = new QProcess(this);
    // Should this program die, the worker is told; it ends its ranks itself.
    m_process->setChildProcessModifier([] { prctl(PR_SET_PDEATHSIG, SIGTERM); });
    connect(m_process, &QProcess::readyReadStandardOutput, this, &Worker::readEvents);
    connect(m_process, &QProcess::readyReadStandardError, this, &Worker::readWords);
    connect(m_process, &QProcess::finished, this,
            [this](int code, QProcess::ExitStatus status) { finish(code, status == QProcess::CrashExit); });
    connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart) // all others come with `finished`
            return;
        conclude({WorkerEnd::Kind::NotFound, tr("'%1' does not start (%2); install it, or set LOADLINE_DEVICE to where it is")
                                                 .arg(m_process->program(), m_process->errorString())});
    });
    const QString path = program();
    if (path.isEmpty()) {
        // Later, so that `ended` never comes before `start` has returned.
        QMetaObject::invokeMethod(
            this,
            [this] {
                conclude({WorkerEnd::Kind::NotFound,
                          tr("%1 is neither beside this program (%2) nor on the PATH; install it, or set LOADLINE_DEVICE to where it is")
                              .arg(kName, QCoreApplication::applicationDirPath())});
            },
            Qt::QueuedConnection);
        return;
    }
    m_process->start(path, {verb});
    if (m_process == nullptr) // it failed at once
        return;
    m_process->write(request.data(), static_cast<qint64>(request.size()));
    m_process->closeWriteChannel();
    m_silence->start(m_limits.silence);
}

void Worker::cancel()
{
    if (running())
        stop(WorkerEnd::Kind::Cancelled, tr("cancelled; what was measured until then is kept"));
}

void Worker::stop(WorkerEnd::Kind kind, const QString& why)
{
    if (m_process == nullptr || m_end)
        return;
    m_end = WorkerEnd{kind, why};
    m_silence->stop();
    m_process->terminate();
    m_grace->start(m_limits.grace);
}

void Worker::readEvents()
{
    if (m_process == nullptr)
        return;
    m_line += m_process->readAllStandardOutput();
    if (m_end && m_end->kind == WorkerEnd::Kind::Misunderstood) {
        m_line.clear(); // nothing that it says counts any more
        return;
    }
    qsizetype from = 0;
    for (qsizetype end = m_line.indexOf('\n'); end >= 0; end = m_line.indexOf('\n', from)) {
        const QByteArray line = m_line.mid(from, end - from);
        from = end + 1;
        if (!take(line)) {
            m_line.clear();
            return;
        }
    }
    m_line.remove(0, from);
    if (m_line.size() > m_limits.line) {
        m_line.clear();
        stop(WorkerEnd::Kind::Misunderstood,
             tr("%1 wrote a line longer than %2 bytes and was ended; it may be of another version").arg(kName).arg(m_limits.line));
    }
    if (!m_end && m_process != nullptr)
        m_silence->start(m_limits.silence);
}

bool Worker::take(const QByteArray& line)
{
    if (line.trimmed().isEmpty())
        return true;
    const auto event = readEvent(std::string_view(line.constData(), static_cast<std::size_t>(line.size())));
    const bool hello = event && *event && std::holds_alternative<WorkerHello>(**event);
    if (!event || hello == m_greeted) {
        const QString reason = !event      ? QString::fromStdString(event.error().message)
                               : m_greeted ? tr("it greets twice")
                                           : tr("its first line is '%1'").arg(shortened(line));
        stop(WorkerEnd::Kind::Misunderstood,
             tr("%1 does not speak this version's protocol and was ended: %2").arg(m_process->program(), reason));
        return false;
    }
    m_greeted = true;
    if (!*event)
        return true; // of a newer device
    if (const auto* result = std::get_if<WorkerResult>(&**event))
        m_resultWhy = QString::fromStdString(result->why);
    emit eventRead(**event);
    return m_process != nullptr;
}

void Worker::readWords()
{
    if (m_process == nullptr)
        return;
    m_wordLine += m_process->readAllStandardError();
    qsizetype from = 0;
    for (qsizetype end = m_wordLine.indexOf('\n'); end >= 0; end = m_wordLine.indexOf('\n', from)) {
        QString line = QString::fromUtf8(m_wordLine.mid(from, end - from));
        from = end + 1;
        m_words << line;
        if (m_words.size() > kWords)
            m_words.removeFirst();
        emit wordsRead(line);
    }
    m_wordLine.remove(0, from);
    if (m_wordLine.size() > m_limits.words)
        m_wordLine.truncate(m_limits.words);
}

void Worker::finish(int code, bool crashed)
{
    readEvents();
    readWords();
    if (!m_wordLine.isEmpty()) {
        m_words << QString::fromUtf8(m_wordLine);
        emit wordsRead(m_words.last());
    }
    conclude(endOf(code, crashed));
}

WorkerEnd Worker::endOf(int code, bool crashed) const
{
    if (m_end)
        return *m_end;
    const QString last = m_words.isEmpty() ? QString() : m_words.last();
    if (crashed)
        return {WorkerEnd::Kind::Died,
                tr("%1 was ended by signal %2 (%3)%4")
                    .arg(kName)
                    .arg(code)
                    .arg(QString::fromLocal8Bit(strsignal(code)), last.isEmpty() ? QString() : tr("; its last words: %1").arg(last))};
    const QString why = !m_resultWhy.isEmpty() ? m_resultWhy
                        : !last.isEmpty()      ? last
                                               : tr("%1 ended with code %2 and gave no reason").arg(kName).arg(code);
    switch (code) {
    case 0:
        if (!m_greeted)
            return {WorkerEnd::Kind::Died, tr("%1 ended without a word; look whether it starts in a terminal").arg(kName)};
        return {};
    case 1:
        return {WorkerEnd::Kind::Failed, why};
    case 2:
        return {WorkerEnd::Kind::Refused, why};
    case 4:
        return {WorkerEnd::Kind::NoDevice, why};
    default:
        return {WorkerEnd::Kind::Fault, why};
    }
}

void Worker::conclude(const WorkerEnd& end)
{
    if (m_process == nullptr)
        return;
    m_silence->stop();
    m_grace->stop();
    m_process->disconnect(this);
    m_process->deleteLater();
    m_process = nullptr;
    emit ended(end); // last: whoever hears it may start anew
}

} // namespace loadline
