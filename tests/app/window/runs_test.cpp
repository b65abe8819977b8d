// SPDX-License-Identifier: GPL-3.0-or-later
// What is dropped on the window: a cluster's results, PyTorch's memory snapshots, two plans.
#include "tests/app/window/open_window.hpp"
#include "views/pages/run_page.hpp"
#include "views/pages/runs_table.hpp"

#include <QCheckBox>
#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTreeView>
#include <QUrl>

using namespace loadline;

namespace {

class Dropped : public OpenWindow {
protected:
    void SetUp() override
    {
        ASSERT_TRUE(m_folder.isValid());
        m_window.keepIn(m_folder.filePath(QStringLiteral("loadline.db")));
        open(QStringLiteral("gpt2-small"));
        RequestOptions options = m_window.session().inputs().options;
        options.runtime = std::string("fsdp2");
        options.batch = std::to_string(1);
        options.sequence = 512;
        m_window.session().setOptions(QStringLiteral("as the cluster ran it"), options);
        ASSERT_TRUE(settle());
    }

    QString write(const QString& name, const QByteArray& content)
    {
        QFile file(m_folder.filePath(name));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write(content);
        return file.fileName();
    }

    static QByteArray log(double seconds)
    {
        QByteArray lines = R"({"loadline-run": 1, "model": "gpt2", "ranks": 8, "batch": 1, "accumulation": 1, "sequence": 512, )"
                           R"("reference": false, "devices": [], "versions": {"torch": "2.11.0"}})";
        for (int step = 1; step <= 3; ++step)
            for (int rank = 0; rank < 8; ++rank)
                lines += QStringLiteral("\n{\"step\": %1, \"rank\": %2, \"loss\": 10.5, \"seconds\": %3, \"peak_allocated_bytes\": 1000, "
                                        "\"peak_reserved_bytes\": 2000, \"all_gather_bytes\": 1, \"reduce_scatter_bytes\": 2, "
                                        "\"all_reduce_bytes\": 3}")
                             .arg(step)
                             .arg(rank)
                             .arg(seconds)
                             .toUtf8();
        return lines + "\n{\"done\": 3}\n";
    }

    void drop(const QStringList& files)
    {
        QMimeData data;
        QList<QUrl> urls;
        for (const QString& file : files)
            urls << QUrl::fromLocalFile(file);
        data.setUrls(urls);
        // Qt hands a drop to what has accepted the drag that entered before it.
        QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&m_window, &enter);
        ASSERT_TRUE(enter.isAccepted());
        QDropEvent event(QPointF(100, 100), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&m_window, &event);
        ASSERT_TRUE(settle());
    }

    QTemporaryDir m_folder;
};

} // namespace

TEST_F(Dropped, ResultsOfAClusterAreKeptAndListedWithWhatDiffers)
{
    drop({write(QStringLiteral("a.jsonl"), log(0.5))});
    const RunModel& model = *m_window.runPage().runs()->model();
    ASSERT_TRUE(QTest::qWaitFor([&] { return model.rowCount() == 1; }, kPatience)) << m_window.message().toStdString();
    drop({write(QStringLiteral("b.jsonl"), log(0.75))});
    ASSERT_TRUE(QTest::qWaitFor([&] { return model.rowCount() == 2; }, kPatience)) << m_window.message().toStdString();
    EXPECT_TRUE(model.lines()[0].imported);
    EXPECT_EQ(model.lines()[0].measuredStep, Seconds(0.75));
    EXPECT_EQ(model.lines()[1].measuredStep, Seconds(0.5));
    EXPECT_TRUE(model.differs(RunModel::MeasuredStep));
    EXPECT_FALSE(model.differs(RunModel::Ranks));
    RunsTable& table = *m_window.runPage().runs();
    table.onlyDifferences()->setChecked(true);
    EXPECT_TRUE(table.view()->isColumnHidden(RunModel::Ranks));
    EXPECT_FALSE(table.view()->isColumnHidden(RunModel::MeasuredStep));
}

TEST_F(Dropped, AFileOfAnotherKindIsSaidAndChangesNothing)
{
    drop({write(QStringLiteral("broken.jsonl"), "{\"loadline-run\": 1, \"ranks\": \n")});
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_window.message().isEmpty(); }, kPatience));
    EXPECT_EQ(m_window.runPage().runs()->model()->rowCount(), 0);
}
