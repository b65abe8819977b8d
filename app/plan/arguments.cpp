// SPDX-License-Identifier: GPL-3.0-or-later
// The only file that knows CLI11: it takes seconds to compile.
#include "app/plan/arguments.hpp"

#include "core/exchange/plan_document.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace loadline {
namespace {

constexpr const char* kQuestion = "Question";
constexpr const char* kSearch = "Search";
constexpr const char* kAnswer = "Answer";

void addModelFlags(CLI::App& verb, RequestOptions& o)
{
    verb.add_option("--model", o.model, "Model: Hugging Face config.json, Loadline's own format, or a bundled name")->group(kQuestion);
    verb.add_option("--lora", o.lora, "Adapters, like rank=16,targets=q_proj:v_proj; the rest is frozen")->group(kQuestion);
    verb.add_option("--sequence", o.sequence, "Tokens per sequence; the model's own if not given")->group(kQuestion);
    verb.add_option("--batch", o.batch, "Sequences per GPU and micro-step: a number or auto (default auto)")->group(kQuestion);
    verb.add_option("--precision", o.precision, "fp32, bf16, bf16-mixed (default), autocast-bf16, fp16-mixed, or a recipe file")
        ->group(kQuestion);
    verb.add_option("--attention", o.attention, "auto (default), flash, efficient, math or eager")->group(kQuestion);
    verb.add_option("--dropout", o.dropout, "config (default: as the model says), or a share from 0 to 1")->group(kQuestion);
}

void addClusterFlags(CLI::App& verb, RequestOptions& o)
{
    verb.add_option("--cluster", o.cluster, "Cluster: a file or a bundled name (default 8xH100-80)")->group(kQuestion);
    verb.add_option("--nodes", o.nodes, "Nodes; the cluster's own if not given")->group(kQuestion);
    verb.add_option("--gpus-per-node", o.gpusPerNode, "GPUs in each node; the cluster's own if not given")->group(kQuestion);
    verb.add_option("--budget", o.budget, "Device memory for the plan's peak: 72GiB, 77GB, or a share like 90% (default)")
        ->group(kQuestion);
    verb.add_option("--accumulation", o.accumulation, "Micro-steps per optimizer step: a number (default 1) or auto")->group(kQuestion);
    verb.add_option("--global-batch", o.globalBatch, "Sequences per optimizer step of the whole job")->group(kQuestion);
    verb.add_option("--optimizer", o.optimizer, "adamw (default), adam8bit, sgd, sgd-momentum, lion, adafactor, or a recipe file")
        ->group(kQuestion);
    verb.add_option("--overhead", o.overhead, "Context, communicators and allocator, like 2GiB; the device's own if not given")
        ->group(kQuestion);
    verb.add_option("--profile", o.profile, "Measured times; without one they are estimated from the device's description")
        ->group(kQuestion);
}

void addSearchFlags(CLI::App& verb, RequestOptions& o)
{
    verb.add_option("--granularity", o.granularity, "Slices to offer (default 1,2,4,8)")->group(kSearch);
    verb.add_option("--groups", o.groups, "Shard group sizes to offer, like 1,8,64; auto (default): 1, GPUs per node, all ranks")
        ->group(kSearch);
    verb.add_option("--recompute", o.recompute,
                    "auto (default: as few blocks as the best plan needs), off or all; attention, mlp: only those parts of as few blocks; "
                    "parts: whichever of the three is best")
        ->group(kSearch);
    verb.add_option("--unit", o.unit, "What is planned as one: operator (default), part or block")->group(kSearch);
    verb.add_option("--memory", o.memory, "timeline (default) or paper: the bound of the OSDP paper")->group(kSearch);
    verb.add_option("--time", o.time, "serial (default) or overlap: which step time is minimised")->group(kSearch);
    verb.add_option("--runtime", o.runtime, "Rules of the program that trains: loadline (default), fsdp2 or osdp-release")->group(kSearch);
    verb.add_option("--pin", o.pins, "PATTERN=STRATEGY, like '*.mlp.*=zdp/4'; repeatable (dp, zdp, d8, zdp/4, 2of4, recompute)")
        ->group(kSearch)
        ->allow_extra_args(false);
    verb.add_option("--work", o.work, "Most search effort, a counter that is the same on every machine")->group(kSearch);
}

void addAnswerFlags(CLI::App& verb, Arguments& a, bool output)
{
    verb.add_flag("--json", a.json, "One JSON document on stdout")->group(kAnswer);
    if (output)
        verb.add_option("--output", a.output, "Also write the document to this file")->group(kAnswer);
}

void addStoreFlag(CLI::App& verb, Arguments& a)
{
    verb.add_option("--store", a.store, "File of the saved sessions (default: LOADLINE_STORE, else this person's own)")->group(kAnswer);
}

CLI::App& addVerb(CLI::App& app, const char* name, const char* about)
{
    auto& verb = *app.add_subcommand(name, about);
    verb.get_formatter()->column_width(30);
    return verb;
}

void addVerbs(CLI::App& app, Arguments& a)
{
    auto& inspect = addVerb(app, "inspect", "The model as read: operators, parameters, bytes saved for backward");
    addModelFlags(inspect, a.request);
    addClusterFlags(inspect, a.request);
    addAnswerFlags(inspect, a, true);

    for (const auto& [name, about] : {std::pair{"plan", "The plan with the most samples per second within the budget"},
                                      std::pair{"frontier", "Least step time as a function of the budget, as CSV or JSON"},
                                      std::pair{"price", "What a given configuration costs, and its distance to the optimum"}}) {
        auto& verb = addVerb(app, name, about);
        addModelFlags(verb, a.request);
        addClusterFlags(verb, a.request);
        addSearchFlags(verb, a.request);
        addAnswerFlags(verb, a, true);
        if (verb.get_name() == "frontier")
            verb.add_option("--points", a.points,
                            "Budgets across the range, for each number of recomputed blocks that is tried (default 100)")
                ->group(kAnswer)
                ->check(CLI::Range(2, 10000));
        if (verb.get_name() == "plan") {
            verb.add_option("--save", a.save, "Also keep the answer as the session of this name")->group(kAnswer);
            addStoreFlag(verb, a);
        }
        if (verb.get_name() == "price") {
            verb.add_option("--uniform", a.uniform, "The same for every operator: dp, zdp, hsdp or zero2; --pin goes on top")
                ->group(kQuestion);
            verb.add_option("--config", a.config, "A file of DeepSpeed, Accelerate, torchtitan or Galvatron")->group(kQuestion);
        }
    }

    auto& check = addVerb(app, "check", "Recomputes a saved plan independently of the search and says if it holds");
    check.add_option("plan", a.files, "A saved plan")->required()->expected(1);
    addAnswerFlags(check, a, false);

    auto& compare = addVerb(app, "compare", "Differences of two saved plans or sessions, operator by operator");
    compare.add_option("plans", a.files, "Two saved plans, or names or numbers of sessions")->required()->expected(2);
    addStoreFlag(compare, a);
    addAnswerFlags(compare, a, false);

    auto& verdict = addVerb(app, "verdict", "Predicted against measured: a plan beside the lines of its training");
    verdict.add_option("files", a.files, "A saved plan, and what loadline-device train wrote")->required()->expected(2);
    addAnswerFlags(verdict, a, false);

    auto& solve = addVerb(app, "solve", "The bare search on tables (loadline.problem/1)");
    solve.add_option("problem", a.files, "A problem file")->required()->expected(1);
    solve.add_flag("--frontier", a.wholeFrontier, "Every corner of bytes and time instead of one answer")->group(kAnswer);
    solve.add_option("--work", a.request.work, "Most search effort, a counter that is the same on every machine")->group(kSearch);
    addAnswerFlags(solve, a, true);

    auto& list = addVerb(app, "list", "Bundled models, clusters, precision recipes and optimizers");
    addAnswerFlags(list, a, false);

    auto& exporting = addVerb(app, "export", "A plan as a program that trains it, or as a file of another program");
    exporting.add_option("plan", a.files, "A saved plan, or the name or number of a session")->required()->expected(1);
    exporting.add_option("--format", a.format, "fsdp2, deepspeed, galvatron, accelerate, html, csv or json")->required()->group(kAnswer);
    exporting.add_option("--model", a.request.model, "The Hugging Face config.json that the plan was made of, to go with it")
        ->group(kAnswer);
    exporting.add_option("--output", a.output, "A folder, or a file for formats of one file")->group(kAnswer);
    addStoreFlag(exporting, a);
    auto& importing = addVerb(app, "import-run", "The JSON lines of a bundle's run beside the prediction, rank by rank");
    importing
        .add_option("files", a.files,
                    "A saved plan or session (which keeps the run), and a file of JSON lines or a PyTorch memory snapshot")
        ->required()
        ->expected(2);
    addStoreFlag(importing, a);
    auto& sessions = addVerb(app, "sessions", "Lists, shows, tags, deletes saved sessions; checks and copies their file");
    sessions.add_option("words", a.files,
                        "list (default), check, backup FILE; of a session by name or number: show S, tag S TAG..., untag S TAG..., note S "
                        "TEXT, rename S NAME, duplicate S NAME, delete S, restore S");
    sessions.add_option("--filter", a.filter, "list: words that name, model, cluster, notes or tags hold")->group(kQuestion);
    sessions.add_option("--tag", a.tag, "list: those with this tag")->group(kQuestion);
    sessions.add_flag("--deleted", a.removed, "list: the deleted ones")->group(kQuestion);
    sessions.add_option("--output", a.output, "show: also write the session's plan to this file")->group(kAnswer);
    addStoreFlag(sessions, a);
    for (auto* verb : {&exporting, &importing, &sessions})
        addAnswerFlags(*verb, a, false);
}

/// CLI11's message as one line that ends like our own.
std::string oneSentence(std::string text)
{
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && (text.back() == ' ' || text.back() == '.'))
        text.pop_back();
    return text;
}

} // namespace

bool Arguments::has(std::string_view flag) const
{
    return std::find(given.begin(), given.end(), flag) != given.end();
}

ParsedArguments parseArguments(int argc, const char* const* argv)
{
    ParsedArguments parsed;
    auto& arguments = parsed.arguments;
    CLI::App app("Plans sharded data-parallel training: the fastest plan within a memory budget, with a proof.", "loadline-plan");
    try {
        app.set_version_flag("--version", std::string(loadlineVersion()));
        app.require_subcommand(1, 1);
        app.get_formatter()->column_width(20);
        addVerbs(app, arguments);
        app.parse(argc, argv);
        auto* verb = app.get_subcommands().front();
        arguments.verb = verb->get_name();
        for (const auto* option : verb->get_options()) {
            if (option->count() > 0)
                arguments.given.push_back(option->get_single_name());
        }
    } catch (const CLI::CallForHelp&) {
        const auto verbs = app.get_subcommands();
        parsed.text = verbs.empty() ? app.help() : verbs.front()->help("loadline-plan");
        parsed.finished = true;
    } catch (const CLI::CallForVersion&) {
        parsed.text = fmt::format("loadline-plan {}\n", loadlineVersion());
        parsed.finished = true;
    } catch (const CLI::ParseError& problem) {
        const auto verbs = app.get_subcommands();
        const auto verb = verbs.empty() ? std::string() : ' ' + verbs.front()->get_name();
        parsed.error = fmt::format("{}; see loadline-plan{} --help", oneSentence(problem.what()), verb);
        parsed.finished = true;
    }
    return parsed;
}

} // namespace loadline
