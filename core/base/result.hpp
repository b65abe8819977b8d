// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace loadline {

/// What kind of failure; programs map it to an exit code.
enum class ErrorCode { InvalidInput, NotFound, Unsupported, Io };

/// One sentence: what failed, on which thing (file, line or key), what to do.
struct Error {
    ErrorCode code = ErrorCode::InvalidInput;
    std::string message;
};

/// A value, or why there is none. "There is no plan" is a value, never an Error.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }

    [[nodiscard]] const T& value() const&
    {
        assert(ok());
        return *std::get_if<0>(&m_state);
    }
    [[nodiscard]] T& value() &
    {
        assert(ok());
        return *std::get_if<0>(&m_state);
    }
    [[nodiscard]] T&& value() &&
    {
        assert(ok());
        return std::move(*std::get_if<0>(&m_state));
    }
    const T& operator*() const& { return value(); }
    T& operator*() & { return value(); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }
    [[nodiscard]] const Error& error() const
    {
        assert(!ok());
        return *std::get_if<1>(&m_state);
    }

private:
    std::variant<T, Error> m_state;
};

inline Error invalidInput(std::string message)
{
    return {ErrorCode::InvalidInput, std::move(message)};
}
inline Error notFound(std::string message)
{
    return {ErrorCode::NotFound, std::move(message)};
}
inline Error unsupported(std::string message)
{
    return {ErrorCode::Unsupported, std::move(message)};
}
inline Error ioError(std::string message)
{
    return {ErrorCode::Io, std::move(message)};
}

} // namespace loadline
