// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window/export_desk.hpp"

#include "app/session/documents.hpp"
#include "core/exchange/html_report.hpp"
#include "core/export/bundle.hpp"
#include "core/export/tables.hpp"
#include "core/model/reader.hpp"
#include "core/plan/planner.hpp"

#include <QDir>
#include <QFileDialog>

#include <algorithm>
#include <array>

namespace loadline {
namespace {

constexpr int kReportBudgets = 60; ///< of the trade-off's curve on the page

struct FormFile {
    ExportDesk::Form form;
    const char* suffix;
};
constexpr std::array kForms{FormFile{ExportDesk::Form::Bundle, ""}, FormFile{ExportDesk::Form::Plan, ".loadline-plan.json"},
                            FormFile{ExportDesk::Form::Page, ".html"}, FormFile{ExportDesk::Form::Table, ".csv"}};

Result<bool> writeBundle(const PlanDocument& document, const QString& place)
{
    const QDir folder(place);
    if (folder.exists() && !folder.isEmpty())
        return ioError(ExportDesk::tr("'%1' has files already; choose a new or empty folder").arg(place).toStdString());
    // The configuration goes with it only where the plan's model is the bundled one of that name.
    std::string config(bundledModelText(document.provenance.model));
    if (const auto model = readModel(config, document.provenance.model); !model || model->operators != document.setup.model->operators)
        config.clear();
    const auto bundle = fsdp2Bundle(document, config);
    if (!bundle)
        return bundle.error();
    for (const ExportedFile& file : bundle->files) {
        const QString path = folder.filePath(QString::fromStdString(file.name));
        if (const auto written = writeWhole(path, file.text); !written)
            return written.error();
        if (file.executable)
            QFile::setPermissions(path, QFile::permissions(path) | QFile::ExeOwner | QFile::ExeGroup | QFile::ExeOther);
    }
    return true;
}

Result<bool> writeForm(const PlanAnswer& answer, ExportDesk::Form form, const QString& place)
{
    const PlanDocument document = documentOf(answer);
    switch (form) {
    case ExportDesk::Form::Bundle:
        return writeBundle(document, place);
    case ExportDesk::Form::Plan:
        return writeWhole(place, planJson(document));
    case ExportDesk::Form::Table:
        return writeWhole(place, planCsv(*answer.outcome->plan));
    case ExportDesk::Form::Page:
        break;
    }
    const auto planner = Planner::prepare(document.outcome.plan->table, document.pins);
    return planner ? writeWhole(place, htmlReport(document, planner->tradeOff(kReportBudgets))) : Result<bool>(planner.error());
}

} // namespace

ExportDesk::ExportDesk(QWidget* window) : QObject(window), m_window(window), m_slot(new WorkSlot(this)) {}

void ExportDesk::choose(const PlanAnswerPtr& answer)
{
    if (!answer || !answer->outcome->plan) {
        emit failed(tr("No plan fits, so there is nothing to export; move the budget line up"));
        return;
    }
    const QStringList filters{tr("PyTorch FSDP2 bundle, a folder (*)"), tr("Plan (*.loadline-plan.json)"), tr("Page (*.html)"),
                              tr("Table (*.csv)")};
    QString filter = filters[1];
    QString place =
        QFileDialog::getSaveFileName(m_window, tr("Export the plan"), QStringLiteral("plan"), filters.join(QStringLiteral(";;")), &filter);
    if (place.isEmpty())
        return;
    const FormFile& form = kForms[static_cast<std::size_t>(std::max<qsizetype>(filters.indexOf(filter), 0))];
    if (!place.endsWith(QLatin1String(form.suffix))) {
        place += QLatin1String(form.suffix);
        if (QFile::exists(place)) { // the dialog asked about another name
            emit failed(tr("'%1' is there already; choose another name, or that file itself").arg(place));
            return;
        }
    }
    write(answer, form.form, place);
}

void ExportDesk::write(const PlanAnswerPtr& answer, Form form, const QString& place)
{
    m_slot->submit([this, answer, form, place](const std::stop_token&, const WorkSlot::Post&) -> WorkSlot::Delivery {
        const auto done = writeForm(*answer, form, place);
        if (!done)
            return [this, message = QString::fromStdString(done.error().message)] { emit failed(message); };
        return [this, place] { emit said(tr("Written: %1").arg(place)); };
    });
}

} // namespace loadline
