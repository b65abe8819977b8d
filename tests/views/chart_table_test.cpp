// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/cluster/library.hpp"
#include "core/model/reader.hpp"
#include "views/charts/memory_chart.hpp"
#include "views/charts/stream_chart.hpp"
#include "views/charts/time_chart.hpp"
#include "views/charts/trade_off_chart.hpp"

#include <gtest/gtest.h>

#include <QCoreApplication>

using namespace loadline;

namespace {

PlanPicturePtr planned()
{
    PlanRequest request;
    request.setup.model = std::make_shared<const Model>(*loadModel("gpt2-small"));
    request.setup.cluster = bundledClusters().front();
    request.setup.precision = bundledPrecisions().front();
    request.setup.optimizer = bundledOptimizers().front();
    request.setup.rules = loadlineRules();
    request.setup.sequence = 256;
    request.budget = Bytes(std::int64_t{1} << 34);
    auto picture = std::make_shared<PlanPicture>();
    picture->outcome = std::make_shared<const PlanOutcome>(*makePlan(request));
    picture->timeline = std::make_shared<const Timeline>(playTimeline(picture->plan()->table, picture->plan()->choice));
    picture->device = request.setup.cluster.device.memory;
    return picture;
}

} // namespace

TEST(ChartTable, CsvQuotesWhatNeedsIt)
{
    const ChartTable table{{QStringLiteral("a"), QStringLiteral("b, s")}, {{QStringLiteral("say \"x\""), QStringLiteral("1.5")}}};
    EXPECT_EQ(csvOf(table), QByteArray("a,\"b, s\"\r\n\"say \"\"x\"\"\",1.5\r\n"));
}

TEST(ChartTable, RowsAreTheNumbersThatAreShown)
{
    const PlanPicturePtr picture = planned();
    const Plan& plan = *picture->plan();
    MemoryChart memory;
    memory.setPicture(picture);
    const ChartTable events = memory.table();
    ASSERT_EQ(events.rows.size(), picture->timeline->events.size());
    qint64 peak = 0;
    for (const QStringList& row : events.rows)
        peak = std::max(peak, row.last().toLongLong());
    EXPECT_EQ(peak, plan.peak.count());

    TimeChart time;
    time.setPicture(picture);
    double compute = 0;
    for (const QStringList& row : time.table().rows)
        compute += row[1].toDouble();
    EXPECT_NEAR(compute, plan.time.compute.value(), 1e-12);

    StreamChart streams;
    streams.setPicture(picture);
    const ChartTable spans = streams.table();
    ASSERT_FALSE(spans.rows.empty());
    double end = 0;
    for (const QStringList& row : spans.rows)
        end = std::max(end, row[3].toDouble());
    EXPECT_EQ(end, plan.time.overlapped.value());

    EXPECT_TRUE(TradeOffChart().table().rows.empty());
}

TEST(ChartTable, PicturesKeepTextAndVectors)
{
    MemoryChart chart;
    chart.resize(700, 300);
    chart.setPicture(planned());
    chart.setTop(Bytes(std::int64_t{24} << 30));
    chart.show();
    QCoreApplication::processEvents();
    const QByteArray svg = svgOf(chart, QStringLiteral("Memory"));
    EXPECT_TRUE(svg.contains("<text"));
    EXPECT_TRUE(svg.contains("peak"));
    EXPECT_FALSE(svg.contains("<image")) << "a bitmap instead of vectors";
    const QByteArray pdf = pdfOf(chart, QStringLiteral("Memory"));
    EXPECT_TRUE(pdf.startsWith("%PDF"));
    EXPECT_FALSE(pdf.contains("/Subtype /Image"));
    EXPECT_TRUE(pngOf(chart).startsWith("\x89PNG"));
}
