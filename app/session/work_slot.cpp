// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/work_slot.hpp"

#include <QMetaObject>

#include <sys/resource.h>

namespace loadline {
namespace {

constexpr int kNice = 10; ///< of background work

} // namespace

WorkSlot::WorkSlot(QObject* parent, Priority priority)
    : QObject(parent), m_priority(priority), m_thread([this](const std::stop_token& stop) { work(stop); })
{
}

WorkSlot::~WorkSlot()
{
    clear();
    m_thread.request_stop();
    m_thread.join();
}

void WorkSlot::submit(Job job)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_waiting)
            ++m_replaced;
        m_waiting = std::move(job);
    }
    m_wake.notify_one();
    if (!m_saidBusy) {
        m_saidBusy = true;
        emit busyChanged(true);
    }
}

void WorkSlot::clear()
{
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.reset();
        m_running.request_stop();
        ++m_generation;
    }
    if (m_saidBusy) {
        m_saidBusy = false;
        emit busyChanged(false);
    }
}

bool WorkSlot::busy() const
{
    const std::lock_guard lock(m_mutex);
    return m_undelivered > 0 || m_waiting.has_value();
}

std::int64_t WorkSlot::started() const
{
    const std::lock_guard lock(m_mutex);
    return m_started;
}

std::int64_t WorkSlot::replaced() const
{
    const std::lock_guard lock(m_mutex);
    return m_replaced;
}

void WorkSlot::work(const std::stop_token& stop)
{
    if (m_priority == Priority::Background)
        setpriority(PRIO_PROCESS, 0, kNice); // on Linux this is the calling thread's
    while (true) {
        Job job;
        std::uint64_t generation = 0;
        std::stop_token jobStop;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return m_waiting.has_value(); }))
                return;
            job = *std::move(m_waiting);
            m_waiting.reset();
            m_running = std::stop_source();
            jobStop = m_running.get_token();
            generation = m_generation;
            ++m_undelivered;
            ++m_started;
        }
        Delivery result = job(jobStop, [&](Delivery delivery) { post(generation, std::move(delivery), false); });
        post(generation, std::move(result), true);
    }
}

void WorkSlot::post(std::uint64_t generation, Delivery delivery, bool last)
{
    QMetaObject::invokeMethod(
        this,
        [this, generation, delivery = std::move(delivery), last] {
            bool current = false;
            {
                const std::lock_guard lock(m_mutex);
                current = generation == m_generation;
                m_undelivered -= last ? 1 : 0;
            }
            if (current && delivery)
                delivery();
            if (m_saidBusy && !busy()) {
                m_saidBusy = false;
                emit busyChanged(false);
            }
        },
        Qt::QueuedConnection);
}

} // namespace loadline
