// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace loadline {

/// One thread that does one job at a time, with room for one waiting job: a newer request replaces the waiting one and
/// never cancels the running one, so that answers keep coming while a hand moves (cancelling on each move starves the
/// picture: docs/window.md). Lives on the GUI thread; destroying it stops the job and waits for it.
class WorkSlot : public QObject {
    Q_OBJECT
public:
    /// What is done on the GUI thread with a job's result.
    using Delivery = std::function<void()>;
    /// Runs `delivery` on the GUI thread unless the slot was cleared or destroyed meanwhile. For results on the way.
    using Post = std::function<void(Delivery)>;
    /// Runs on the worker; polls the token; what it returns is delivered like a post.
    using Job = std::function<Delivery(std::stop_token, const Post&)>;

    /// Background work gives way to everything else that wants a processor.
    enum class Priority { Normal, Background };

    explicit WorkSlot(QObject* parent = nullptr, Priority priority = Priority::Normal);
    ~WorkSlot() override;

    void submit(Job job);
    /// Drops the waiting job, asks the running one to stop, and delivers nothing of either.
    void clear();

    [[nodiscard]] bool busy() const;             ///< waiting, running, or done but not yet delivered
    [[nodiscard]] std::int64_t started() const;  ///< jobs begun so far
    [[nodiscard]] std::int64_t replaced() const; ///< jobs that never ran because a newer one came

signals:
    /// From the GUI thread, after a delivery with nothing left to do, and after the first submit.
    void busyChanged(bool busy);

private:
    void work(const std::stop_token& stop);
    void post(std::uint64_t generation, Delivery delivery, bool last);

    mutable std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::optional<Job> m_waiting;
    std::stop_source m_running;
    int m_undelivered = 0;          ///< jobs begun whose last delivery has not run yet
    std::uint64_t m_generation = 0; ///< of what may still be delivered
    std::int64_t m_started = 0;
    std::int64_t m_replaced = 0;
    bool m_saidBusy = false; ///< GUI thread only
    Priority m_priority;
    std::jthread m_thread; ///< last: stops before the rest goes
};

} // namespace loadline
