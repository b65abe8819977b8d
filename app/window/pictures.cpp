// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/pictures.hpp"

#include "views/format/text.hpp"

#include <QStringList>

#include <algorithm>

namespace loadline {

PlanPicturePtr pictureOf(const PlanAnswerPtr& answer)
{
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = answer->outcome;
    picture->timeline = answer->timeline;
    picture->least = answer->least;
    picture->most = answer->most;
    picture->device = answer->device;
    return picture;
}

std::shared_ptr<const TradeOffPicture> pictureOf(const TradeOffAnswerPtr& answer, Bytes device)
{
    if (!answer)
        return nullptr;
    auto picture = std::make_shared<TradeOffPicture>();
    picture->stair = answer->stair;
    picture->baselines = answer->baselines;
    picture->device = device;
    return picture;
}

Bytes memoryAxisTop(const PlanAnswer& answer, bool wholeDevice)
{
    const double device = static_cast<double>(answer.device.count()) * 1.06;
    const Bytes peak = answer.outcome->plan ? answer.outcome->plan->peak : Bytes();
    const double near = static_cast<double>(std::max({answer.most, answer.least, peak}).count()) * 1.3;
    return Bytes(static_cast<std::int64_t>(!wholeDevice && near > 0 && near < device * 0.6 ? near : device));
}

QString commandLineOf(const Inputs& inputs)
{
    const RequestOptions usual;
    const RequestOptions& options = inputs.options;
    QStringList words{QStringLiteral("loadline-plan"), QStringLiteral("plan")};
    const auto add = [&](const char* flag, const std::string& value, const std::string& usualValue) {
        if (value == usualValue)
            return;
        QString quoted = text(value);
        quoted.replace(QLatin1Char('\''), QLatin1String("'\\''"));
        words << QLatin1String(flag) << QLatin1Char('\'') + quoted + QLatin1Char('\'');
    };
    add("--model", options.model, {});
    add("--cluster", options.cluster, {});
    words << QStringLiteral("--budget") << QString::number(inputs.budget.count());
    const auto addNumber = [&](const char* flag, const std::optional<std::int64_t>& value) {
        if (value)
            words << QLatin1String(flag) << QString::number(*value);
    };
    addNumber("--nodes", options.nodes);
    addNumber("--gpus-per-node", options.gpusPerNode);
    if (options.sequence)
        words << QStringLiteral("--sequence") << QString::number(*options.sequence);
    add("--batch", options.batch, usual.batch);
    add("--accumulation", options.accumulation, usual.accumulation);
    add("--granularity", options.granularity, usual.granularity);
    add("--precision", options.precision, usual.precision);
    add("--optimizer", options.optimizer, usual.optimizer);
    add("--recompute", options.recompute, usual.recompute);
    add("--unit", options.unit, usual.unit);
    add("--runtime", options.runtime, usual.runtime);
    addNumber("--global-batch", options.globalBatch);
    add("--lora", options.lora, usual.lora);
    add("--groups", options.groups, usual.groups);
    add("--attention", options.attention, usual.attention);
    add("--dropout", options.dropout, usual.dropout);
    add("--overhead", options.overhead, usual.overhead);
    add("--memory", options.memory, usual.memory);
    add("--time", options.time, usual.time);
    add("--profile", options.profile, usual.profile);
    for (const std::string& pin : options.pins)
        add("--pin", pin, {});
    addNumber("--work", options.work);
    return words.join(QLatin1Char(' '));
}

} // namespace loadline
