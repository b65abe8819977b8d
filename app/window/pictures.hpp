// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/session/answer.hpp"
#include "views/models/plan_picture.hpp"

#include <QString>

namespace loadline {

/// What the views draw of a session's answer; shares its parts.
PlanPicturePtr pictureOf(const PlanAnswerPtr& answer);
std::shared_ptr<const TradeOffPicture> pictureOf(const TradeOffAnswerPtr& answer, Bytes device);

/// Top of the memory axis: the device with its ceiling, or nearer where the plan needs far less than the device has.
Bytes memoryAxisTop(const PlanAnswer& answer, bool wholeDevice);

/// The `loadline-plan plan` call that answers the same; only flags that differ from their defaults.
QString commandLineOf(const Inputs& inputs);

} // namespace loadline
