// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <cstdint>

namespace loadline {

/// A count of bytes. Adds only to bytes, scales only by whole numbers; 64 bits hold 8 EiB.
class Bytes {
public:
    constexpr Bytes() = default;
    constexpr explicit Bytes(std::int64_t count) : m_count(count) {}

    [[nodiscard]] constexpr std::int64_t count() const { return m_count; }
    [[nodiscard]] constexpr double gib() const { return static_cast<double>(m_count) / (1LL << 30); }

    constexpr Bytes& operator+=(Bytes other)
    {
        m_count += other.m_count;
        return *this;
    }
    constexpr Bytes& operator-=(Bytes other)
    {
        m_count -= other.m_count;
        return *this;
    }
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.m_count + b.m_count); }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.m_count - b.m_count); }
    friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.m_count * n); }
    friend constexpr auto operator<=>(Bytes, Bytes) = default;

private:
    std::int64_t m_count = 0;
};

/// A duration in seconds.
class Seconds {
public:
    constexpr Seconds() = default;
    constexpr explicit Seconds(double value) : m_value(value) {}

    [[nodiscard]] constexpr double value() const { return m_value; }

    constexpr Seconds& operator+=(Seconds other)
    {
        m_value += other.m_value;
        return *this;
    }
    friend constexpr Seconds operator+(Seconds a, Seconds b) { return Seconds(a.m_value + b.m_value); }
    friend constexpr Seconds operator-(Seconds a, Seconds b) { return Seconds(a.m_value - b.m_value); }
    friend constexpr Seconds operator*(Seconds a, double factor) { return Seconds(a.m_value * factor); }
    friend constexpr auto operator<=>(Seconds, Seconds) = default;

private:
    double m_value = 0;
};

constexpr Bytes operator""_KiB(unsigned long long n)
{
    return Bytes(static_cast<std::int64_t>(n) << 10);
}
constexpr Bytes operator""_MiB(unsigned long long n)
{
    return Bytes(static_cast<std::int64_t>(n) << 20);
}
constexpr Bytes operator""_GiB(unsigned long long n)
{
    return Bytes(static_cast<std::int64_t>(n) << 30);
}

/// `a / b` rounded up; `a` >= 0, `b` > 0.
constexpr std::int64_t ceilDiv(std::int64_t a, std::int64_t b)
{
    return a / b + (a % b != 0 ? 1 : 0);
}

} // namespace loadline
